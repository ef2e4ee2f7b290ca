// Apollo Client's persisted-query link: what it sends, and what it gets, by POST and by GET.
import { createHash } from 'node:crypto';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';

const [url, ownerId] = process.argv.slice(2);
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

async function run(query, useGETForHashedQueries) {
  const sent = [];
  const watched = async (address, options) => {
    const content = options.body ? JSON.parse(options.body) : Object.fromEntries(new URL(address).searchParams);
    const response = await fetch(address, options);
    sent.push({ method: options.method, document: 'query' in content, hash: 'extensions' in content });
    return response;
  };
  const client = new ApolloClient({
    link: new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(new HttpLink({ uri: url, fetch: watched })),
    cache: new InMemoryCache(),
  });
  const options = { query, variables: { ownerId }, fetchPolicy: 'network-only' };
  const names = [];
  for (let times = 0; times < 2; times += 1) names.push((await client.query(options)).data.owner.name);
  client.stop();
  return { sent, names };
}

const post = await run(gql`query PersistedByPost($ownerId: ID!) { owner(ownerId: $ownerId) { id name } }`, false);
const get = await run(gql`query PersistedByGet($ownerId: ID!) { owner(ownerId: $ownerId) { id name } }`, true);
console.log(JSON.stringify({ post, get }));
