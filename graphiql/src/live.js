// Subscriptions, each over a WebSocket of its own: it ends with it, and the next has the token of who is signed in then.
import { createClient } from 'graphql-ws';

import { isSubscription } from './operation.js';

/** A fetcher that runs subscriptions over WebSocket; plans of them, and everything else, it leaves to another. */
export function withSubscriptions(fetcher) {
  return (request, options) =>
    isSubscription(request) && request.extensions?.explain !== 'plan'
      ? resultsOf(request, options?.headers)
      : fetcher(request, options);
}

function resultsOf(request, headers) {
  const url = location.origin.replace(/^http/, 'ws') + location.pathname;
  const results = createClient({ url, connectionParams: headers, retryAttempts: 0 }).iterate(request);
  const next = results.next.bind(results);
  results.next = () => next().catch(explain);
  return results;
}

function explain(error) {
  throw error instanceof CloseEvent ? new Error(`The connection was closed: ${error.code} ${error.reason}`) : error;
}
