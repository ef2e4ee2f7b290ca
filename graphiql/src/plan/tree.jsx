// A request before it runs: the tree of the fields that read or write, each with the worst case.
import { VisuallyHidden } from '@graphiql/react';

import { Contract } from './contract.jsx';
import { counted, plain } from './numbers.js';

// What is summed, in columns: their headings, and in whole words for who hears them.
const SUMS = {
  operations: { heading: 'ops', noun: 'operations' },
  items: { heading: 'items', noun: 'items' },
  readUnits: { heading: 'RU', noun: 'read units' },
  writeUnits: { heading: 'WU', noun: 'write units' },
};

export function Tree({ plan: { tree, totals, maximum, heaviest, allowed } }) {
  if (tree.length === 0) {
    return <p className="plan-hint">It would ask nothing of the table.</p>;
  }
  const columns = Object.keys(SUMS).filter(column => column !== 'writeUnits' || totals.writeUnits > 0);
  return (
    <>
      {!allowed && (
        <p className="plan-problem" role="alert">
          Over the maximum: the server refuses to run this request (QUERY_TOO_COMPLEX).
        </p>
      )}
      <p className="plan-totals" data-testid="plan-totals">
        At most <strong>{counted(totals.operations, 'operation')}</strong> ({plain(totals.expectedOperations)}{' '}
        expected), {counted(totals.items, 'item')}, {counted(totals.readUnits, 'read unit')} (RU)
        {totals.writeUnits > 0 && <>, {counted(totals.writeUnits, 'write unit')} (WU)</>}
      </p>
      <div className="plan-meters">
        <Meter name="Read units" value={totals.readUnits} maximum={maximum.readUnits} />
        <Meter name="Operations" value={totals.operations} maximum={maximum.operations} />
        <Meter name="Items" value={totals.expectedItems} maximum={maximum.items} />
      </div>
      <div className="plan-tree">
        <div className="plan-line plan-columns" aria-hidden="true">
          <span>worst case</span>
          {columns.map(column => (
            <span key={column} className="plan-sum">
              {SUMS[column].heading}
            </span>
          ))}
        </div>
        <Nodes nodes={tree.flatMap(readers)} parent="" columns={columns} heaviest={heaviest?.path} label="Fields of the plan" />
      </div>
    </>
  );
}

function Meter({ name, value, maximum }) {
  const isOver = value > maximum;
  const text = `${plain(value)} of ${plain(maximum)}`;
  return (
    <>
      <span>{name}</span>
      <span
        className={isOver ? 'plan-meter plan-over' : 'plan-meter'}
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={maximum}
        aria-valuenow={Math.min(value, maximum)}
        aria-valuetext={text}
      >
        <span style={{ width: `${Math.min(1, value / maximum) * 100}%` }} />
      </span>
      <span>{text}</span>
    </>
  );
}

function Nodes({ nodes, parent, label, ...shared }) {
  return (
    <ul aria-label={label}>
      {nodes.map(node => (
        <Node key={node.path} node={node} parent={parent} {...shared} />
      ))}
    </ul>
  );
}

function Node({ node: { path, field, times, contracts, children }, parent, columns, heaviest }) {
  return (
    <li className={path === heaviest ? 'plan-heaviest' : undefined}>
      <div className="plan-line">
        <span className="plan-field">
          <strong>{parent ? path.slice(parent.length + 1) : path}</strong>
          {times > 1 && <span className="plan-times">×{plain(times)}</span>}
          {path === heaviest && <span className="plan-badge plan-warning">heaviest</span>}
          <code>{field}</code>
        </span>
        <Sums entries={contracts} columns={columns} />
      </div>
      {contracts.map((contract, index) => (
        <div key={index} className="plan-line plan-part">
          <span>
            <Contract id={contract.id} /> {contract.operation}
            {contract.when !== 'always' && <em> {contract.when}</em>}
          </span>
          {contracts.length > 1 && <Sums entries={[contract]} columns={columns} />}
        </div>
      ))}
      {children.length > 0 && (
        <Nodes nodes={children.flatMap(readers)} parent={path} columns={columns} heaviest={heaviest} />
      )}
    </li>
  );
}

function Sums({ entries, columns }) {
  return columns.map(column => (
    <span key={column} className="plan-sum">
      {plain(entries.reduce((sum, entry) => sum + entry[column], 0))}
      <VisuallyHidden> {SUMS[column].noun}, </VisuallyHidden>
    </span>
  ));
}

/** A field that only leads to others is left out: its children stand in its place, and their paths name it. */
function readers(node) {
  return node.contracts.length > 0 ? [node] : node.children.flatMap(readers);
}
