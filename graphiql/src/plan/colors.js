// Each contract always has the same color, in the tree and in the waterfall.

// Consecutive numbers are far apart on the color circle; those that come close again differ in lightness.
const DEGREES = 129.6;
const LIGHTNESS = [0.5, 0.64, 0.78];

/** The color of a contract, derived from its number. */
export function contractColor(contract) {
  const number = Number.parseInt(contract.replace(/\D/g, ''), 10) || 0;
  const hue = Math.round((number * DEGREES * 10) % 3600) / 10;
  return `oklch(${LIGHTNESS[number % LIGHTNESS.length]} 0.16 ${hue})`;
}
