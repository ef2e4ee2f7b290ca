// The four quantities of a cost, and the arithmetic on them.
export const QUANTITIES = {
  operations: 'Operations',
  items: 'Items',
  readUnits: 'Read units',
  writeUnits: 'Write units',
};

/** The three figures of every quantity, in the order of the columns. */
export const FIGURES = { expected: 'Expected', measured: 'Measured', maximum: 'Maximum' };

/** The quantities that a request uses: without writes, write units are left out. */
export function quantitiesOf({ maximum }) {
  return Object.keys(QUANTITIES).filter(quantity => quantity !== 'writeUnits' || maximum.writeUnits > 0);
}

/** One figure of all reads of a node, or null where nothing was measured. */
export function sumOf(reads, figure, quantity) {
  const costs = reads.map(read => read[figure]).filter(Boolean);
  return costs.length > 0 ? costs.reduce((sum, cost) => sum + cost[quantity], 0) : null;
}

/** The quantities of which more was measured than expected. */
export function aboveExpected(reads) {
  return Object.keys(QUANTITIES).filter(
    quantity => sumOf(reads, 'measured', quantity) > sumOf(reads, 'expected', quantity),
  );
}

/** Whether a cost exceeds the limit in any quantity that has one. */
export function isOverLimit(cost, limit) {
  return Object.keys(limit).some(quantity => cost[quantity] > limit[quantity]);
}
