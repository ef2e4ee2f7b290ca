// Sends what Vite's proxy sends with the configuration of docs/web-clients.md, and what the page itself sends where CORS allows its origin.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';

const [url] = process.argv.slice(2);
const here = new URL('.', import.meta.url);
process.env.SMARTLOCKER = new URL(url).origin;
// Vite itself would take longer to install than all other tests of clients.
mkdirSync(new URL('vite/node_modules/vite', here), { recursive: true });
writeFileSync(new URL('vite/node_modules/vite/package.json', here), '{"type": "module", "exports": "./index.js"}');
writeFileSync(new URL('vite/node_modules/vite/index.js', here), 'export const defineConfig = (config) => config;');
copyFileSync(new URL('vite.config.ts', here), new URL('vite/vite.config.mjs', here));
const { default: config } = await import('./vite/vite.config.mjs');
const { target, ws, changeOrigin, headers } = config.server.proxy['/graphql'];
if (!ws || !changeOrigin) throw new Error('no proxy of subscriptions');

const ask = (origin) =>
  fetch(`${target}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(origin && { origin }) },
    body: '{"query": "{ __typename }"}',
  });
const cors = await ask('http://localhost:5173');
console.log(
  JSON.stringify({
    other: (await ask('http://localhost:5174')).status,
    proxy: (await ask(headers.origin)).status,
    cors: cors.headers.get('access-control-allow-origin'),
  }),
);
