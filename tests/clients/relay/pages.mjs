// Relay pages an owner's lockers to the end, forward and backward, and renames one. It only ever sends ids of documents.
import { createRequire } from 'node:module';
import relay from 'relay-runtime';

const [url, ownerId, lockerId] = process.argv.slice(2);
const artifact = (name) => createRequire(import.meta.url)(`./artifacts/${name}.graphql.js`);
const sent = [];

async function send({ id }, variables) {
  const body = { documentId: id, variables };
  sent.push(Object.keys(body));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

async function page(direction, count) {
  const environment = new relay.Environment({
    network: relay.Network.create(send),
    store: new relay.Store(new relay.RecordSource()),
  });
  const name = direction === 'forward' ? 'Forward' : 'Backward';
  const query = artifact(`documents${name}Query`);
  const fragment = artifact(`documents_${direction}`);
  const { paginationRequest, paginationMetadata } = relay.getPaginationMetadata(fragment, 'pages');
  const operation = relay.createOperationDescriptor(query, { ownerId });
  environment.retain(operation);
  const { owner } = await relay.fetchQuery(environment, query, { ownerId }).toPromise();
  const selector = relay.getSingularSelector(fragment, owner);
  const lockers = () => environment.lookup(selector).data.lockers;
  let pages = 1;
  for (;;) {
    const { hasNextPage, hasPreviousPage, endCursor, startCursor } = lockers().pageInfo;
    if (!(direction === 'forward' ? hasNextPage : hasPreviousPage)) break;
    const cursor = direction === 'forward' ? endCursor : startCursor;
    const base = { id: owner.__id };
    const variables = relay.getPaginationVariables(direction, count, cursor, base, {}, paginationMetadata);
    await relay.fetchQuery(environment, paginationRequest, variables).toPromise();
    pages += 1;
  }
  return { pages, lockerIds: lockers().edges.map(({ node }) => node.lockerId) };
}

async function rename(alias, expectedVersion) {
  const environment = new relay.Environment({
    network: relay.Network.create(send),
    store: new relay.Store(new relay.RecordSource()),
  });
  return new Promise((onCompleted, onError) => {
    relay.commitMutation(environment, {
      mutation: artifact('documentsRenameMutation'),
      variables: { input: { lockerId, alias, expectedVersion } },
      onCompleted,
      onError,
    });
  });
}

const forward = await page('forward', 50);
const backward = await page('backward', 50);
const { renameLocker } = await rename('By Relay', 1);
console.log(JSON.stringify({ forward, backward, renameLocker, sent }));
