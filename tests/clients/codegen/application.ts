// An application with the types that graphql-codegen makes, which only ever sends hashes of its documents.
import { Client, fetchExchange, type TypedDocumentNode } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { graphql } from './gql';

declare const process: { argv: string[] };

const LOCKER = graphql(`
  query CodegenLocker($lockerId: ID!) {
    locker(lockerId: $lockerId) {
      alias
      status
      version
      updatedAt
    }
  }
`);
const UPDATE = graphql(`
  mutation CodegenUpdate($input: UpdateLockerStatusInput!) {
    updateLockerStatus(input: $input) {
      locker {
        status
        version
      }
      userErrors {
        __typename
        code
        ... on VersionConflictError {
          currentVersion
        }
      }
    }
  }
`);

async function main(url: string, lockerId: string): Promise<void> {
  const sent: { method: string; document: boolean }[] = [];
  const client = new Client({
    url,
    exchanges: [
      persistedExchange({
        enforcePersistedQueries: true,
        enableForMutation: true,
        generateHash: async (_: string, document: TypedDocumentNode<any, any>) =>
          (document as unknown as { __meta__: { hash: string } }).__meta__.hash,
      }),
      fetchExchange,
    ],
    fetch: async (address, options) => {
      const document = new URL(String(address)).searchParams.has('query') || /"query":/.test(String(options?.body));
      sent.push({ method: options?.method ?? 'GET', document });
      return fetch(address, options);
    },
  });
  const { data, error } = await client.query(LOCKER, { lockerId }).toPromise();
  if (error || !data?.locker) throw error ?? new Error('no locker');
  const expectedVersion: number = data.locker.version!;
  const updatedAt: string = data.locker.updatedAt!;
  // @ts-expect-error the schema has no such field
  data.locker.color;
  // @ts-expect-error a status is no number
  const wrong: number = data.locker.status;
  const input = { lockerId, newStatus: 'MAINTENANCE' as const, expectedVersion };
  // @ts-expect-error an input needs all that the schema requires
  client.mutation(UPDATE, { input: { lockerId } });
  const changed = (await client.mutation(UPDATE, { input }).toPromise()).data?.updateLockerStatus;
  const refused = (await client.mutation(UPDATE, { input }).toPromise()).data?.updateLockerStatus;
  const conflict = refused?.userErrors[0];
  const currentVersion = conflict?.__typename === 'VersionConflictError' ? conflict.currentVersion : null;
  console.log(JSON.stringify({ locker: data.locker, updatedAt, changed, currentVersion, sent, wrong }));
}

void main(process.argv[2]!, process.argv[3]!);
