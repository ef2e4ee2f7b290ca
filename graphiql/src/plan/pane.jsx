// The pane that shows what requests ask of the table: the last one as it went, the next one before it goes.
import './plan.css';

import { Button, ButtonGroup, pick, tryParseJSONC, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';

import { planRequest, showPlan, showView, switchExplanations, useExplanations } from './explanations.js';
import { Tree } from './tree.jsx';
import { Waterfall } from './waterfall.jsx';

const VIEWS = { last: 'Last request', planned: 'Before it runs' };

function Pane() {
  const { isOn, view } = useExplanations();
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
      <ButtonGroup role="group" aria-label="What to show">
        {Object.entries(VIEWS).map(([name, title]) => (
          <Button
            key={name}
            type="button"
            className={view === name ? 'active' : ''}
            aria-pressed={view === name}
            onClick={() => showView(name)}
          >
            {title}
          </Button>
        ))}
      </ButtonGroup>
      <section className="plan-view" aria-label={VIEWS[view]} tabIndex={0}>
        {view === 'last' ? <LastRequest /> : <PlannedRequest />}
      </section>
    </section>
  );
}

function LastRequest() {
  const { isOn, isForbidden, last } = useExplanations();
  return (
    <>
      {last && (
        <h3>
          {last.name} <small>at {last.at.toLocaleTimeString()}</small>
        </h3>
      )}
      {last?.explanation ? (
        <Waterfall key={last.number} explanation={last.explanation} />
      ) : (
        <p className="plan-hint" role="status">
          {hintOf(isOn, isForbidden, last)}
        </p>
      )}
    </>
  );
}

function PlannedRequest() {
  const { planned } = useExplanations();
  if (!planned) {
    return <p className="plan-hint">The plan tells what a request would ask of the table at most. Nothing is run.</p>;
  }
  return (
    <>
      <h3>{planned.name}</h3>
      {planned.problems.map((problem, index) => (
        <p key={index} className="plan-problem" role="alert">
          {problem}
        </p>
      ))}
      {planned.plan && <Tree plan={planned.plan} />}
    </>
  );
}

function PlanButton() {
  const { fetcher, queryEditor, variableEditor, headerEditor, operationName } = useGraphiQL(
    pick('fetcher', 'queryEditor', 'variableEditor', 'headerEditor', 'operationName'),
  );
  const [isBusy, setBusy] = useState(false);

  async function plan() {
    let variables;
    let headers;
    try {
      variables = parsed('Variables', variableEditor);
      headers = parsed('Headers', headerEditor);
    } catch (error) {
      showPlan({ name: 'Not sent', plan: null, problems: [error.message] });
      return;
    }
    setBusy(true);
    await planRequest(fetcher, { query: queryEditor.getValue(), variables, operationName }, { headers });
    setBusy(false);
  }

  return (
    <Button type="button" disabled={isBusy} onClick={plan}>
      Plan this request without running it
    </Button>
  );
}

function parsed(name, editor) {
  try {
    return tryParseJSONC(editor?.getValue());
  } catch (error) {
    throw new Error(`${name} ${error.message}`);
  }
}

function hintOf(isOn, isForbidden, last) {
  if (isForbidden) {
    return 'The server does not explain requests to you. Your request was run without; explaining is switched off.';
  }
  if (!isOn) {
    return 'Explaining is switched off.';
  }
  return last
    ? 'The server sent no explanation: it refused the request before anything was run, or something in it is not yours to see.'
    : 'Run a request: each operation that it makes on the table is drawn here.';
}

function PlanIcon() {
  return (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round">
      <path d="M1.75 1.5v15a1.5 1.5 0 0 0 1.5 1.5h15M5.5 4.5h6M8 9h4.5M11 13.5h6" />
    </svg>
  );
}

export const PLAN = { title: 'Plan', icon: PlanIcon, content: Pane };
