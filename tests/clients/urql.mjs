// urql with everything as it comes: a query, a mutation, a mutation that is refused, a query that fails.
import { Client, cacheExchange, fetchExchange, gql } from '@urql/core';

const [url, ownerId, lockerId] = process.argv.slice(2);
const answered = [];
const client = new Client({
  url,
  exchanges: [cacheExchange, fetchExchange],
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
const plain = ({ data, error }) => ({ data, codes: error?.graphQLErrors.map(({ extensions }) => extensions.code) });
const rename = (expectedVersion) =>
  client.mutation(RENAME, { input: { lockerId, alias: 'By urql', expectedVersion } }).toPromise();

const query = plain(await client.query(OWNER, { ownerId }).toPromise());
const missing = plain(await client.query(OWNER, { ownerId: 'nobody' }).toPromise());
const mutation = plain(await rename(1));
const refused = plain(await rename(1));
console.log(JSON.stringify({ query, missing, mutation, refused, answered }));
