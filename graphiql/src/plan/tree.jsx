// The plan: the tree of fields that use the table, each with what is expected, what was measured and the maximum.
import { Button, ButtonGroup, VisuallyHidden } from '@graphiql/react';

import { Contract } from './contract.jsx';
import { counted, plain } from './numbers.js';
import { aboveExpected, FIGURES, QUANTITIES, quantitiesOf, sumOf } from './quantities.js';

export function Tree({ explanation: { tree, totals, operations = [] }, chosen, onChoose, selected, onSelect }) {
  const quantities = quantitiesOf(totals);
  const quantity = quantities.includes(chosen) ? chosen : 'readUnits';
  const shared = { quantity, operations, selected, onSelect, largest: largestOf(tree, quantity) };
  return (
    <section className="plan-part" aria-labelledby="plan-fields">
      <header>
        <h4 id="plan-fields">Fields</h4>
        <ButtonGroup role="group" aria-label="Quantity shown for each field">
          {quantities.map(name => (
            <Button
              key={name}
              type="button"
              className={quantity === name ? 'active' : ''}
              aria-pressed={quantity === name}
              onClick={() => onChoose(name)}
            >
              {QUANTITIES[name]}
            </Button>
          ))}
        </ButtonGroup>
      </header>
      <div className="plan-tree">
        <div className="plan-line plan-columns" aria-hidden="true">
          <span>{QUANTITIES[quantity]}</span>
          {Object.values(FIGURES).map(title => (
            <span key={title} className="plan-figure">
              {title}
            </span>
          ))}
        </div>
        <Nodes nodes={tree} parent="" label="Fields that use the table" {...shared} />
      </div>
    </section>
  );
}

function Nodes({ nodes, label, ...shared }) {
  return (
    <ul aria-label={label}>
      {nodes.map(node => (
        <Node key={`${node.path} ${node.field}`} node={node} {...shared} />
      ))}
    </ul>
  );
}

function Node({ node, parent, ...shared }) {
  const { path, field, parents, reads, children } = node;
  const { quantity, operations, selected, onSelect, largest } = shared;
  const above = aboveExpected(reads).map(name => QUANTITIES[name].toLowerCase());
  const usual = reads.filter(read => !read.condition);
  const fallbacks = reads.filter(read => read.condition);
  const sent = operations.filter(operation => operation.path === path).length;
  return (
    <li className="plan-node" data-path={path}>
      <div className={`plan-field${above.length > 0 ? ' plan-above' : ''}${path === selected ? ' plan-selected' : ''}`}>
        <div className="plan-line">
          <span className="plan-name">
            <strong>{parent ? path.slice(parent.length + 1) : path}</strong>
            <code>{field}</code>
            {parents > 1 && <span className="plan-parents">for {counted(parents, 'parent')}</span>}
            {sent > 0 && (
              <button type="button" className="plan-link" title="Show in the waterfall" onClick={() => onSelect(path)}>
                {counted(sent, 'operation')}
              </button>
            )}
            {path === largest && <span className="plan-badge">largest</span>}
            {above.length > 0 && <span className="plan-badge plan-warning">{above.join(', ')} above expected</span>}
          </span>
          {reads.length > 0 && <Figures reads={reads} quantity={quantity} />}
        </div>
        {usual.map((read, index) => (
          <div key={index} className="plan-line plan-read">
            <span>
              <Contract id={read.contract} /> {read.operation}
            </span>
            {reads.length > 1 && <Figures reads={[read]} quantity={quantity} />}
          </div>
        ))}
        {fallbacks.map((read, index) => (
          <div key={index} className="plan-line plan-read plan-fallback">
            <span>
              <span className="plan-badge">fallback</span> <Contract id={read.contract} /> {read.operation}{' '}
              <em>{read.condition}</em>
            </span>
            <Figures reads={[read]} quantity={quantity} />
          </div>
        ))}
      </div>
      {children.length > 0 && <Nodes nodes={children} {...shared} parent={path} />}
    </li>
  );
}

function Figures({ reads, quantity }) {
  return Object.entries(FIGURES).map(([figure, title]) => {
    const value = sumOf(reads, figure, quantity);
    return (
      <span key={figure} className={`plan-figure plan-is-${figure}`}>
        <VisuallyHidden>{title} </VisuallyHidden>
        {value === null ? '–' : plain(value)}
      </span>
    );
  });
}

/** The path of the field with the largest expected figure, if it is one of several. */
function largestOf(tree, quantity) {
  const all = tree.flatMap(withDescendants).map(node => [node.path, sumOf(node.reads, 'expected', quantity) ?? 0]);
  const [first, second] = all.sort(([, one], [, other]) => other - one);
  return second && first[1] > second[1] ? first[0] : null;
}

function withDescendants(node) {
  return [node, ...node.children.flatMap(withDescendants)];
}
