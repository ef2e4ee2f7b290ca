// A request as it went: its store operations on a time axis.
import { useState } from 'react';

import { colourOf, Contract } from './contract.jsx';
import { axisOf, counted, milliseconds, plain } from './numbers.js';

// As many rows as one sees without scrolling.
const FEW = 12;

export function Waterfall({ explanation: { operations, totals } }) {
  if (operations.length === 0) {
    return <p className="plan-hint">It asked nothing of the table.</p>;
  }
  const axis = axisOf(Math.max(...operations.map(operation => operation.startMs + operation.durationMs)));
  return (
    <>
      <p className="plan-totals" data-testid="totals">
        <strong>{counted(totals.operations, 'operation')}</strong> in {counted(totals.requests, 'request')},{' '}
        {counted(totals.returned, 'item')}, {counted(totals.readUnits, 'read unit')} (RU),{' '}
        {totals.writeUnits > 0 && <>{counted(totals.writeUnits, 'write unit')} (WU), </>}
        {milliseconds(totals.durationMs)}
      </p>
      <Legend operations={operations} />
      <div className="plan-waterfall" style={{ '--steps': axis.steps }}>
        <div className="plan-top" aria-hidden="true">
          {operations.length > FEW && <Overview operations={operations} length={axis.length} />}
          <Axis {...axis} />
        </div>
        <ol aria-label="Operations in the order of their start">
          {operations.map((operation, index) => (
            <Operation key={index} operation={operation} length={axis.length} />
          ))}
        </ol>
      </div>
    </>
  );
}

function Legend({ operations }) {
  const counts = Map.groupBy(operations, operation => operation.contract);
  return (
    <ul className="plan-legend" aria-label="Contracts">
      {[...counts].sort().map(([id, { length }]) => (
        <li key={id}>
          <Contract id={id} count={length} />
        </li>
      ))}
    </ul>
  );
}

/** All operations in the height of a few, since the rows below do not fit on a screen. */
function Overview({ operations, length }) {
  return (
    <svg className="plan-overview" viewBox={`0 0 ${length} ${operations.length}`} preserveAspectRatio="none">
      {operations.map(({ contract, startMs, durationMs }, index) => (
        <rect key={index} style={colourOf(contract)} x={startMs} y={index} width={durationMs} height="1" />
      ))}
    </svg>
  );
}

function Axis({ step, steps }) {
  return (
    <div className="plan-axis">
      {Array.from({ length: steps + 1 }, (_, tick) => (
        <span key={tick}>{tick === steps ? milliseconds(step * tick) : plain(step * tick)}</span>
      ))}
    </div>
  );
}

function Operation({ operation, length }) {
  const [isOpen, setOpen] = useState(false);
  const { contract, attempts, outcome, pages } = operation;
  return (
    <li>
      <details style={colourOf(contract)} onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>
          <span className="plan-operation">
            <Contract id={contract} /> <span>{operation.operation}</span> <code>{targetOf(operation)}</code>
            {pages > 1 && <span className="plan-badge">{pages} pages</span>}
            {attempts > 1 && <span className="plan-badge plan-warning">{attempts} attempts</span>}
            {outcome !== 'ok' && <span className="plan-badge plan-error">{outcome}</span>}
          </span>
          <span className="plan-numbers">{numbersOf(operation)}</span>
          <Bar operation={operation} length={length} />
        </summary>
        {isOpen && <Details operation={operation} />}
      </details>
    </li>
  );
}

function Bar({ operation: { startMs, durationMs }, length }) {
  const start = (startMs / length) * 100;
  const width = (durationMs / length) * 100;
  // The time stands behind its bar where there is room, else before it, else in it.
  const place = start + width < 72 ? 'after' : start > 28 ? 'before' : 'inside';
  return (
    <span className="plan-track">
      <span className="plan-bar" style={{ left: `${start}%`, width: `${width}%` }}>
        <span className={`plan-time plan-${place}`}>{milliseconds(durationMs)}</span>
      </span>
    </span>
  );
}

function Details({ operation }) {
  const { keys, paths } = operation;
  const facts = {
    Index: operation.index,
    Read: operation.readUnits > 0 ? (operation.consistent ? 'strongly consistent' : 'eventually consistent') : null,
    Partition: operation.partition,
    'Sort key': operation.sortKey,
    'Asked by': operation.merged > 1 ? `${operation.merged} loads, merged into one operation` : null,
    Start: `after ${milliseconds(operation.startMs)}`,
  };
  return (
    <dl>
      {Object.entries(facts).map(([name, value]) => value && <Fact key={name} name={name} values={[value]} />)}
      {keys && <Fact name={counted(keys.length, 'key')} values={keys.map(textOfKey)} />}
      <Fact name={counted(paths.length, 'path')} values={paths} />
    </dl>
  );
}

function Fact({ name, values }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {values.map((value, index) => (
          <code key={index}>{value}</code>
        ))}
      </dd>
    </>
  );
}

function targetOf({ partition, sortKey, keys }) {
  if (partition) {
    return [partition, sortKey].filter(Boolean).join('  ');
  }
  const [first, ...others] = keys ?? [];
  return first ? `${first.pk}  ${first.sk}${others.length ? `  and ${counted(others.length, 'other')}` : ''}` : '';
}

function textOfKey({ pk, sk, step }) {
  return `${pk}  ${sk}${step ? `  (${step})` : ''}`;
}

function numbersOf({ asked, merged, returned, readUnits, writeUnits }) {
  return [
    `${plain(asked)} asked${merged > 1 ? ` (${plain(merged)} merged)` : ''}`,
    counted(returned, 'item'),
    readUnits > 0 && `${plain(readUnits)} RU`,
    writeUnits > 0 && `${plain(writeUnits)} WU`,
  ]
    .filter(Boolean)
    .join(' · ');
}
