// The operations that a request sent to the table, on a time axis.
import { useState } from 'react';

import { colorOf, Contract } from './contract.jsx';
import { axisOf, counted, milliseconds, plain } from './numbers.js';

// From this many rows on they do not fit on a screen, and an overview is drawn above them.
const MANY = 12;
// What a read says of its items; a write names the items that it writes.
const READ_ITEMS = {
  GetItem: (asked, returned) => `${plain(returned)} of ${counted(asked, 'item')}`,
  BatchGetItem: (asked, returned) => `${plain(returned)} of ${counted(asked, 'item')}`,
  Query: (asked, returned) => `${counted(returned, 'item')} (Limit ${plain(asked)})`,
};

export function Waterfall({ operations, selected, onSelect }) {
  const axis = axisOf(Math.max(...operations.map(operation => operation.startMs + operation.durationMs)));
  return (
    <section className="plan-part" aria-labelledby="plan-operations">
      <header>
        <h4 id="plan-operations">Operations</h4>
        <Legend operations={operations} />
      </header>
      <div className="plan-waterfall" style={{ '--steps': axis.steps }}>
        <div className="plan-top" aria-hidden="true">
          {operations.length > MANY && <Overview operations={operations} length={axis.length} />}
          <Axis {...axis} />
        </div>
        <ol aria-label="Operations in the order they began">
          {operations.map((operation, index) => (
            <Operation
              key={index}
              operation={operation}
              length={axis.length}
              isSelected={operation.path === selected}
              onSelect={onSelect}
            />
          ))}
        </ol>
      </div>
    </section>
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

/** All operations at once, at a fixed height. */
function Overview({ operations, length }) {
  return (
    <svg className="plan-overview" viewBox={`0 0 ${length} ${operations.length}`} preserveAspectRatio="none">
      {operations.map(({ contract, startMs, durationMs }, index) => (
        <rect key={index} style={colorOf(contract)} x={startMs} y={index} width={durationMs} height="1" />
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

function Operation({ operation, length, isSelected, onSelect }) {
  const [isOpen, setOpen] = useState(false);
  const { contract, attempts, outcome, pages } = operation;
  return (
    <li className={isSelected ? 'plan-selected' : undefined}>
      <details style={colorOf(contract)} onToggle={event => setOpen(event.currentTarget.open)}>
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
        {isOpen && <Details operation={operation} onSelect={onSelect} />}
      </details>
    </li>
  );
}

function Bar({ operation: { startMs, durationMs }, length }) {
  const start = (startMs / length) * 100;
  const width = (durationMs / length) * 100;
  const end = start + width;
  // The duration is written after the bar if there is room, else before it, else inside.
  const isInside = end >= 72 && start <= 28;
  const place = end < 72 ? { left: `${end}%` } : { right: `${100 - start}%` };
  return (
    <span className="plan-track">
      <span className="plan-bar" style={{ left: `${start}%`, width: `${width}%` }}>
        {isInside && <span className="plan-time">{milliseconds(durationMs)}</span>}
      </span>
      {!isInside && (
        <span className="plan-time" style={place}>
          {milliseconds(durationMs)}
        </span>
      )}
    </span>
  );
}

function Details({ operation, onSelect }) {
  const { keys, path } = operation;
  const facts = {
    Index: operation.index,
    Consistency: operation.readUnits > 0 ? (operation.consistent ? 'strong' : 'eventual') : null,
    Partition: operation.partition,
    'Sort key': operation.sortKey,
    Merged: operation.merged > 1 ? `${plain(operation.merged)} reads, sent as one operation` : null,
    Started: `after ${milliseconds(operation.startMs)}`,
  };
  return (
    <dl>
      {Object.entries(facts).map(([name, value]) => value && <Fact key={name} name={name} values={[value]} />)}
      {keys && <Fact name={counted(keys.length, 'key')} values={keys.map(textOfKey)} />}
      <dt>Field</dt>
      <dd>
        <button type="button" className="plan-link" onClick={() => onSelect(path)}>
          {path}
        </button>
      </dd>
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

function numbersOf({ operation, asked, returned, readUnits, writeUnits }) {
  return [
    READ_ITEMS[operation]?.(asked, returned) ?? counted(asked, 'item'),
    readUnits > 0 && counted(readUnits, 'read unit'),
    writeUnits > 0 && counted(writeUnits, 'write unit'),
  ]
    .filter(Boolean)
    .join(' · ');
}
