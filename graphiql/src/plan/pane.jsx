// The Plan pane: what the latest request was expected to use of the table, and what it used.
import './plan.css';

import { Button, pick, useGraphiQL } from '@graphiql/react';
import { useEffect, useRef, useState } from 'react';

import { requestOf } from '../request.js';
import { planRequest, showProblem, switchExplanations, useExplanations } from './explanations.js';
import { Totals } from './totals.jsx';
import { Tree } from './tree.jsx';
import { Waterfall } from './waterfall.jsx';

function Pane() {
  const { isOn, isForbidden, shown } = useExplanations();
  const [quantity, setQuantity] = useState('readUnits');
  return (
    <section className="plan" aria-label="Plan">
      <header>
        <h2>Plan</h2>
        <label>
          <input type="checkbox" checked={isOn} onChange={event => switchExplanations(event.target.checked)} />
          Explain my requests
        </label>
      </header>
      <PlanButton />
      <section className="plan-view" aria-label="Explanation" tabIndex={0}>
        {shown && (
          <h3>
            {shown.name} <small>{shown.ranAt ? `sent at ${shown.ranAt.toLocaleTimeString()}` : 'not run'}</small>
          </h3>
        )}
        {shown?.problems.map((problem, index) => (
          <p key={index} className="plan-problem" role="alert">
            {problem}
          </p>
        ))}
        {shown?.explanation && (
          <Explanation
            key={shown.number}
            explanation={shown.explanation}
            problems={shown.problems}
            quantity={quantity}
            onQuantity={setQuantity}
          />
        )}
        {!shown?.explanation && !shown?.problems.length && (
          <p className="plan-hint" role="status">
            {hintOf(isOn, isForbidden, shown)}
          </p>
        )}
      </section>
    </section>
  );
}

function Explanation({ explanation, problems, quantity, onQuantity }) {
  const { tree, totals, operations = [] } = explanation;
  // `target` names the part to go to: a field shows its operations, an operation shows its field.
  const [selection, select] = useState({ path: null, target: null });
  const parts = useRef(null);
  useEffect(() => {
    if (selection.target) {
      parts.current.querySelector(selection.target)?.focus();
    }
  }, [selection]);
  if (tree.length === 0) {
    return <p className="plan-hint">This request does not use the table.</p>;
  }
  return (
    <div ref={parts} className="plan-parts">
      <Totals totals={totals} problems={problems} isMutation={tree[0].field.startsWith('Mutation.')} />
      <Tree
        explanation={explanation}
        chosen={quantity}
        onChoose={onQuantity}
        selected={selection.path}
        onSelect={path => select({ path, target: '.plan-waterfall .plan-selected summary' })}
      />
      {operations.length > 0 && (
        <Waterfall
          operations={operations}
          selected={selection.path}
          onSelect={path => select({ path, target: '.plan-tree .plan-selected .plan-link' })}
        />
      )}
    </div>
  );
}

function PlanButton() {
  const { fetcher, ...editors } = useGraphiQL(
    pick('fetcher', 'queryEditor', 'variableEditor', 'headerEditor', 'operationName'),
  );
  const [isBusy, setBusy] = useState(false);

  async function plan() {
    let content;
    try {
      content = requestOf(editors);
    } catch (error) {
      showProblem(error.message);
      return;
    }
    const { headers, ...request } = content;
    setBusy(true);
    await planRequest(fetcher, request, { headers });
    setBusy(false);
  }

  return (
    <Button type="button" disabled={isBusy} onClick={plan}>
      Plan this request without running it
    </Button>
  );
}

function hintOf(isOn, isForbidden, shown) {
  if (isForbidden) {
    return 'The server does not explain requests to you. Your request was run without an explanation, and explaining is now off.';
  }
  if (!isOn) {
    return 'Explaining is off.';
  }
  return shown
    ? 'The server sent no explanation of this request.'
    : 'Run a request to see what it uses of the table, or plan it without running it.';
}

function PlanIcon() {
  return (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round">
      <path d="M1.75 1.5v15a1.5 1.5 0 0 0 1.5 1.5h15M5.5 4.5h6M8 9h4.5M11 13.5h6" />
    </svg>
  );
}

export const PLAN = { title: 'Plan', icon: PlanIcon, content: Pane };
