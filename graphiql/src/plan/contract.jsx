import { contractColour } from './colours.js';

/** A style that sets `--contract` to the contract's colour. */
export function colourOf(contract) {
  return { '--contract': contractColour(contract) };
}

export function Contract({ id, count }) {
  return (
    <span className="plan-contract" style={colourOf(id)}>
      {id}
      {count > 1 && ` ×${count}`}
    </span>
  );
}
