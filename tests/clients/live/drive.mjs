// Every client watches a locker: with a clock that is years behind, through a change, and through one while the network is down.
// Prints what each has shown. The code of the documentation runs as it is printed: the addresses in it lead to a proxy here.
import WebSocket from 'ws';

import { openProxy } from './proxy.mjs';

const [url, lockerId, ...names] = process.argv.slice(2);
const proxy = await openProxy(new URL(url));
const rerouted = (address) => String(address).replace('127.0.0.1:8000', `127.0.0.1:${proxy.port}`);
const { fetch, setTimeout } = globalThis;
const shown = Object.fromEntries(names.map((name) => [name, []]));
let queries = 0;
let check = () => {};
process.env.TOKEN = (await (await fetch(`${url}/tokens`)).json())[0].token;

globalThis.WebSocket = class extends WebSocket {
  constructor(address, ...options) {
    super(rerouted(address), ...options);
  }
};
Date.prototype.toISOString = () => '2024-01-01T00:00:00.000Z';
globalThis.fetch = async (address, options) => {
  const response = await fetch(rerouted(address), options);
  if (!response.headers.get('content-type').startsWith('text/event-stream')) {
    queries += 1;
    check();
  }
  return response;
};
// Clients wait for seconds before they connect again; here they do not.
globalThis.setTimeout = (task, delay, ...values) => setTimeout(task, delay >= 1000 && delay < 5000 ? 20 : delay, ...values);

async function until(isSo) {
  await new Promise((resolve) => {
    check = () => isSo() && resolve();
    check();
  });
}

async function setStatus(newStatus, expectedVersion) {
  const query = `mutation Set($input: UpdateLockerStatusInput!) { updateLockerStatus(input: $input) { userErrors { message } } }`;
  const variables = { input: { lockerId, newStatus, expectedVersion } };
  const headers = { 'Content-Type': 'application/json' };
  const answer = await (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) })).json();
  if (answer.data?.updateLockerStatus.userErrors.length !== 0) throw new Error(JSON.stringify(answer));
}

const everyoneHas = (version) => () => Object.values(shown).every((lockers) => lockers.at(-1)?.version === version);
const { signal } = new AbortController();
for (const name of names) {
  const { watchLocker } = await import(`./${name}.js`);
  const show = (locker) => {
    shown[name].push(locker);
    check();
  };
  Promise.resolve(watchLocker(lockerId, show, signal)).catch((error) => {
    console.error(name, error);
    process.exit(1);
  });
}
await until(() => queries === 2 * names.length);
await setStatus('OCCUPIED', 1);
await until(everyoneHas(2));
proxy.cut();
await setStatus('AVAILABLE', 2);
proxy.mend();
await until(everyoneHas(3));
console.log(JSON.stringify({ shown, queries }));
process.exit(0);
