// Asks the server to explain requests, and keeps the explanation that the pane shows.
import { useSyncExternalStore } from 'react';

import { chosenOperation, INTROSPECTION, isSubscription } from '../operation.js';

const KEY = 'graphiql:explain';
const TOO_COMPLEX = 'QUERY_TOO_COMPLEX';
// The statuses of a request that cannot be planned either.
const INVALID = [400, 401];

const listeners = new Set();
let requests = 0;
let state = {
  isOn: localStorage.getItem(KEY) !== 'off',
  isForbidden: false,
  // The latest request that was run or planned: `{ number, name, ranAt, explanation, problems }`; `ranAt` is null for a plan.
  shown: null,
};

/** The current state; a component that uses it is rendered again when it changes. */
export function useExplanations() {
  return useSyncExternalStore(subscribe, () => state);
}

/** Switches explanations on or off; the browser remembers the choice. */
export function switchExplanations(isOn) {
  localStorage.setItem(KEY, isOn ? 'on' : 'off');
  change({ isOn, isForbidden: false, shown: null });
}

/**
 * A fetcher that asks for an explanation of each request. The explanation is shown in the pane and removed from the
 * response. GraphiQL's own introspection, subscriptions, and a request that already has extensions, are sent unchanged.
 */
export function withExplanations(fetcher) {
  return async (request, options) => {
    if (!state.isOn || request.extensions || request.operationName === INTROSPECTION || isSubscription(request)) {
      return fetcher(request, options);
    }
    const number = ++requests;
    const response = await fetcher({ ...request, extensions: { explain: true } }, options);
    if (isForbidden(response)) {
      // A response without data means that nothing was run, so even a mutation can be sent again.
      const unexplained = await fetcher(request, options);
      if (!isForbidden(unexplained)) {
        change({ isOn: false, isForbidden: true, shown: null });
      }
      return unexplained;
    }
    const { explain = null, ...extensions } = response.extensions ?? {};
    const refusals = response.errors?.filter(error => !explain || error.extensions?.code === TOO_COMPLEX);
    const sent = { name: nameOf(request), ranAt: new Date(), explanation: explain, problems: messagesOf(refusals) };
    show(number, sent);
    if (!explain && !refusals?.some(error => INVALID.includes(error.extensions?.status))) {
      showPlan(number, sent, () => fetcher({ ...request, extensions: { explain: 'plan' } }, options));
    }
    const { extensions: _, ...visible } = response;
    return Object.keys(extensions).length > 0 ? { ...visible, extensions } : visible;
  };
}

/** Shows the plan of a request that was refused, or of which the caller may not see what was measured. */
async function showPlan(number, sent, askForPlan) {
  const explanation = await askForPlan().then(
    response => response.extensions?.explain,
    () => null,
  );
  if (explanation) {
    show(number, { ...sent, explanation });
  }
}

/** Asks for the plan of a request without running it. */
export async function planRequest(fetcher, request, options) {
  const number = ++requests;
  let explanation = null;
  let problems;
  try {
    const response = await fetcher({ ...request, extensions: { explain: 'plan' } }, options);
    explanation = response.extensions?.explain ?? null;
    problems = messagesOf(response.errors);
  } catch (error) {
    problems = [error.message];
  }
  if (!explanation && problems.length === 0) {
    problems = ['The server did not send a plan.'];
  }
  show(number, { name: nameOf(request), ranAt: null, explanation, problems });
}

/** Shows why a request was not sent. */
export function showProblem(problem) {
  show(++requests, { name: 'Not sent', ranAt: null, explanation: null, problems: [problem] });
}

/** Shows an explanation unless a newer request was sent meanwhile. */
function show(number, explained) {
  if (number === requests) {
    change({ shown: { number, ...explained } });
  }
}

function messagesOf(errors) {
  return errors?.map(error => error.message) ?? [];
}

function isForbidden(response) {
  return !('data' in response) && response.errors?.some(error => error.extensions?.code === 'FORBIDDEN' && !error.path);
}

function nameOf({ query, operationName }) {
  return chosenOperation(query, operationName) ?? 'Unnamed operation';
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
