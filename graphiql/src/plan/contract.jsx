import { contractColor } from './colors.js';

/** A style that sets `--contract` to the contract's color. */
export function colorOf(contract) {
  return { '--contract': contractColor(contract) };
}

export function Contract({ id, count }) {
  return (
    <span className="plan-contract" style={colorOf(id)}>
      {id}
      {count > 1 && ` ×${count}`}
    </span>
  );
}
