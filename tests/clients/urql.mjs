// urql with everything as it comes: a query, a mutation, a mutation that is refused, a query that fails, a subscription by fetch.
import { Client, cacheExchange, fetchExchange, gql } from '@urql/core';

const [url, ownerId, lockerId] = process.argv.slice(2);
const answered = [];
const client = new Client({
  url,
  exchanges: [cacheExchange, fetchExchange],
  fetchSubscriptions: true,
  fetch: async (address, options) => {
    const response = await fetch(address, options);
    answered.push({ accept: options.headers.accept, contentType: response.headers.get('content-type') });
    return response;
  },
});
const OWNER = gql`query ($ownerId: ID!) { owner(ownerId: $ownerId) { id name } }`;
const RENAME = gql`
  mutation ($input: RenameLockerInput!) {
    renameLocker(input: $input) {
      locker { id alias version }
      userErrors { code ... on VersionConflictError { currentVersion } }
    }
  }
`;
const CHANGES = gql`
  subscription ($lockerId: ID!, $after: String) {
    lockerActivity(lockerId: $lockerId, after: $after) { id kind locker { id alias } }
  }
`;
const plain = ({ data, error }) => ({ data, codes: error?.graphQLErrors.map(({ extensions }) => extensions.code) });
const rename = (expectedVersion) =>
  client.mutation(RENAME, { input: { lockerId, alias: 'By urql', expectedVersion } }).toPromise();

const query = plain(await client.query(OWNER, { ownerId }).toPromise());
const missing = plain(await client.query(OWNER, { ownerId: 'nobody' }).toPromise());
const mutation = plain(await rename(1));
const refused = plain(await rename(1));
const renamed = await new Promise((resolve) => {
  const { unsubscribe } = client.subscription(CHANGES, { lockerId, after: new Date().toISOString() }).subscribe((result) => {
    if (result.error || result.data.lockerActivity.kind === 'LOCKER_CHANGED') {
      queueMicrotask(() => unsubscribe());
      resolve(plain(result));
    }
  });
});
console.log(JSON.stringify({ query, missing, mutation, refused, renamed, answered }));
