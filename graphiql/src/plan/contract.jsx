// A contract has its colour for good: the same in every picture, in the plan and in what became of it.

// Spreads the numbers of contracts over the circle so that those often seen together lie far apart.
const DEGREES = 187;

/** The style that gives a part of the page its contract's colour, as `--contract`. */
export function colourOf(contract) {
  const hue = (Number.parseInt(contract.replace(/\D/g, ''), 10) * DEGREES) % 360;
  return { '--contract': `oklch(0.64 0.16 ${hue || 0})` };
}

export function Contract({ id, count }) {
  return (
    <span className="plan-contract" style={colourOf(id)}>
      {id}
      {count > 1 && <span className="plan-contract-count"> ×{count}</span>}
    </span>
  );
}
