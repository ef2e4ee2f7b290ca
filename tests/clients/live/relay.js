// Relay, with the ids of trusted documents over the WebSocket too.
import { createRequire } from 'node:module';
import relay from 'relay-runtime';
import { live, mustQueryAgain, newest } from './live.js';

const artifact = (name) => createRequire(import.meta.url)(`../relay/artifacts/${name}.graphql.js`);

async function send({ id }, variables) {
  const response = await fetch('http://127.0.0.1:8000/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
    body: JSON.stringify({ documentId: id, variables }),
  });
  return response.json();
}

export async function watchLocker(lockerId, show) {
  const apply = newest(show);
  const query = async () => {
    const { locker } = await relay.fetchQuery(environment, artifact('documentsLockerQuery'), { lockerId }).toPromise();
    apply(locker);
  };
  const subscribe = ({ id }, variables) =>
    relay.Observable.create((sink) =>
      live.subscribe({ query: '', documentId: id, variables }, {
        next(result) {
          if (mustQueryAgain(result.errors)) query();
          sink.next(result);
        },
        error: (error) => sink.error(error),
        complete: () => sink.complete(),
      }),
    );
  const environment = new relay.Environment({
    network: relay.Network.create(send, subscribe),
    store: new relay.Store(new relay.RecordSource()),
  });
  const variables = { lockerId, after: new Date().toISOString() };
  await query();
  return new Promise((onCompleted, onError) => {
    relay.requestSubscription(environment, {
      subscription: artifact('documentsChangesSubscription'),
      variables,
      onNext: ({ lockerActivity }) => apply(lockerActivity?.locker),
      onCompleted,
      onError,
    });
  });
}
