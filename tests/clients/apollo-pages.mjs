// Apollo Client pages an owner's lockers to the end with relayStylePagination, forward and backward.
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';

const [url, ownerId] = process.argv.slice(2);
const QUERY = gql`
  query Lockers($ownerId: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    owner(ownerId: $ownerId) {
      id
      lockers(first: $first, after: $after, last: $last, before: $before) {
        edges {
          cursor
          node {
            id
            lockerId
          }
        }
        pageInfo {
          hasNextPage
          hasPreviousPage
          startCursor
          endCursor
        }
      }
    }
  }
`;

async function page(initial, next) {
  const client = new ApolloClient({
    link: new HttpLink({ uri: url }),
    cache: new InMemoryCache({ typePolicies: { Owner: { fields: { lockers: relayStylePagination() } } } }),
  });
  const variables = { ownerId, ...initial };
  const query = client.watchQuery({ query: QUERY, variables });
  let subscription;
  let { data } = await new Promise((resolve, error) => {
    subscription = query.subscribe({ next: (result) => result.loading || resolve(result), error });
  });
  let pages = 1;
  for (let more = next(data.owner.lockers); more && pages < 100; more = next(data.owner.lockers)) {
    ({ data } = await query.fetchMore({ variables: more }));
    pages += 1;
  }
  subscription.unsubscribe();
  const all = client.readQuery({ query: QUERY, variables });
  client.stop();
  return { pages, lockerIds: all.owner.lockers.edges.map(({ node }) => node.lockerId) };
}

const forward = await page({ first: 50 }, ({ pageInfo: { hasNextPage, endCursor } }) =>
  hasNextPage ? { first: 50, after: endCursor } : null,
);
const backward = await page({ last: 50 }, ({ pageInfo: { hasPreviousPage, startCursor } }) =>
  hasPreviousPage ? { last: 50, before: startCursor } : null,
);
console.log(JSON.stringify({ forward, backward }));
