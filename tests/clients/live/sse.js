import { createClient } from 'graphql-sse';
import { watchWith } from './subscribing.js';
import { token } from './token.js';

const client = createClient({
  url: 'http://127.0.0.1:8000/graphql',
  headers: async () => ({ Authorization: `Bearer ${await token()}` }),
});

export const watchLocker = (lockerId, show) => watchWith(client, lockerId, show);
