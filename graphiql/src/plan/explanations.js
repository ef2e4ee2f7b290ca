// What the server tells of requests: how the last one went, and the plan of one that was not run.
import { useSyncExternalStore } from 'react';

const KEY = 'graphiql:explain';
const INTROSPECTION = 'IntrospectionQuery';

const listeners = new Set();
let requests = 0;
let state = {
  isOn: localStorage.getItem(KEY) !== 'off',
  isForbidden: false,
  last: null,
  planned: null,
  // Which of the two the pane shows: what came last, until its user chooses.
  view: 'last',
};

/** What is known now; a component that uses it is drawn again when that changes. */
export function useExplanations() {
  return useSyncExternalStore(subscribe, () => state);
}

/** Whether requests are to be explained, from now on and on the next visit. */
export function switchExplanations(isOn) {
  localStorage.setItem(KEY, isOn ? 'on' : 'off');
  change({ isOn, isForbidden: false, last: null, view: 'last' });
}

/**
 * A fetcher whose requests are explained. The explanation goes to the pane; the answer is shown as it would be without.
 * GraphiQL's own request for the schema, and one that says by itself what it wants, pass as they are.
 */
export function explaining(fetcher) {
  return async (request, options) => {
    if (!state.isOn || request.extensions || request.operationName === INTROSPECTION) {
      return fetcher(request, options);
    }
    const number = ++requests;
    const answer = await fetcher({ ...request, extensions: { explain: true } }, options);
    if (isForbidden(answer)) {
      // An answer without data tells that nothing was run, so that even a mutation may be sent again.
      const plain = await fetcher(request, options);
      if (!isForbidden(plain)) {
        change({ isOn: false, isForbidden: true, last: null, view: 'last' });
      }
      return plain;
    }
    const { explain = null, ...extensions } = answer.extensions ?? {};
    if (number === requests) {
      const last = { number, name: nameOf(request), at: new Date(), explanation: explain };
      change({ last, view: 'last' });
    }
    const { extensions: _, ...shown } = answer;
    return Object.keys(extensions).length > 0 ? { ...shown, extensions } : shown;
  };
}

/** Asks for the plan of a request that is not run. */
export async function planRequest(fetcher, request, options) {
  try {
    const answer = await fetcher({ ...request, extensions: { explain: 'plan' } }, options);
    const plan = answer.extensions?.explain?.plan ?? null;
    const problems = answer.errors?.map(error => error.message) ?? [];
    showPlan({ name: nameOf(request), plan, problems: plan || problems.length ? problems : ['The server sent no plan.'] });
  } catch (error) {
    showPlan({ name: nameOf(request), plan: null, problems: [error.message] });
  }
}

/** Shows a plan, or what kept one from being made. */
export function showPlan(planned) {
  change({ planned, view: 'planned' });
}

export function showView(view) {
  change({ view });
}

function isForbidden(answer) {
  return !('data' in answer) && answer.errors?.some(error => error.extensions?.code === 'FORBIDDEN' && !error.path);
}

function nameOf(request) {
  return request.operationName ?? 'Request without a name';
}

function change(part) {
  state = { ...state, ...part };
  for (const listener of listeners) {
    listener();
  }
}

function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
