import { contractColour } from './colours.js';

/** The style that gives a part of the page its contract's colour, as `--contract`. */
export function colourOf(contract) {
  return { '--contract': contractColour(contract) };
}

export function Contract({ id, count }) {
  return (
    <span className="plan-contract" style={colourOf(id)}>
      {id}
      {count > 1 && <span className="plan-contract-count"> ×{count}</span>}
    </span>
  );
}
