// A client that has subscriptions only, such as graphql-ws: queries go by fetch.
import { CHANGES, LOCKER, mustQueryAgain, newest, resuming } from './live.js';

async function ask(lockerId) {
  const response = await fetch('http://127.0.0.1:8000/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: LOCKER, variables: { lockerId } }),
  });
  return (await response.json()).data.locker;
}

export async function watchWith(client, lockerId, show) {
  const apply = newest(show);
  const variables = { lockerId, after: new Date().toISOString() };
  apply(await ask(lockerId));
  return new Promise((complete, error) => {
    resuming(client).subscribe({ query: CHANGES, variables }, {
      next({ data, errors }) {
        apply(data.lockerActivity?.locker);
        if (mustQueryAgain(errors)) ask(lockerId).then(apply);
      },
      error,
      complete,
    });
  });
}
