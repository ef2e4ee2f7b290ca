// A contract has its colour for good: the same in every picture, in the plan and in what became of it.

// Neighbours lie far apart on the circle, and those that meet again on it differ in lightness.
const DEGREES = 129.6;
const LIGHTNESS = [0.5, 0.64, 0.78];

/** The colour of a contract, by its number. */
export function contractColour(contract) {
  const number = Number.parseInt(contract.replace(/\D/g, ''), 10) || 0;
  const hue = Math.round((number * DEGREES * 10) % 3600) / 10;
  return `oklch(${LIGHTNESS[number % LIGHTNESS.length]} 0.16 ${hue})`;
}
