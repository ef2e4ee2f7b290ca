// Uses what docs/web-clients.md has, with the types that graphql-codegen makes: prints pages, a change, a conflict, and what was sent.
import { openClient } from './src/client';
import { changeStatus } from './src/change';
import { graphql } from './src/gql';
import { lockersPage } from './src/pages';

declare const process: { argv: string[]; env: Record<string, string | undefined> };

const sent: { method: string; document: boolean }[] = [];
const { fetch } = globalThis;
globalThis.fetch = async (address, options) => {
  const document = new URL(String(address)).searchParams.has('query') || /"query":/.test(String(options?.body));
  sent.push({ method: options?.method ?? 'GET', document });
  return fetch(address, options);
};

const LOCKER = graphql(`
  query CodegenLocker($lockerId: ID!) {
    locker(lockerId: $lockerId) {
      status
      version
      updatedAt
    }
  }
`);

async function main(url: string, token: string, ownerId: string, lockerId: string): Promise<void> {
  const client = openClient(url, () => token);
  const { data, error } = await client.query(LOCKER, { lockerId }).toPromise();
  if (error || !data?.locker) throw error ?? new Error('no locker');
  const updatedAt: string = data.locker.updatedAt!;
  // @ts-expect-error the schema has no such field
  data.locker.color;
  // @ts-expect-error a status is no number
  const wrong: number = data.locker.status;
  // @ts-expect-error there is no such status
  () => changeStatus(client, lockerId, 'LOST', 1);
  const changed = await changeStatus(client, lockerId, 'MAINTENANCE', data.locker.version!);
  const refused = await changeStatus(client, lockerId, 'OCCUPIED', data.locker.version!);
  const ways = [...sent];
  const forward: string[][] = [];
  let page = await lockersPage(client, ownerId);
  for (; ; page = await lockersPage(client, ownerId, page.next)) {
    forward.push(page.lockers.map((one) => one.lockerId));
    if (page.next === null) break;
  }
  const backward = [forward.at(-1)];
  while (page.previous !== null) {
    page = await lockersPage(client, ownerId, page.previous);
    backward.unshift(page.lockers.map((one) => one.lockerId));
  }
  console.log(JSON.stringify({ locker: data.locker, updatedAt, wrong, changed, refused, ways, forward, backward }));
}

const [url, token, ownerId, lockerId] = process.argv.slice(2) as [string, string, string, string];
void main(url, token, ownerId, lockerId);
