// graphql-ws by itself, at first with a token that has ended: the server closes with 4403, and the client asks for another.
import { createClient } from 'graphql-ws';
import { watchWith } from './subscribing.js';
import { token } from './token.js';

const tokens = ['ended'];
const closes = [];
const client = createClient({
  url: 'ws://127.0.0.1:8000/graphql',
  connectionParams: async () => ({ Authorization: `Bearer ${tokens.pop() ?? (await token())}` }),
  on: { closed: ({ code }) => closes.push(code) },
});

export const watchLocker = (lockerId, show) => watchWith(client, lockerId, (locker) => show({ ...locker, closes: [...closes] }));
