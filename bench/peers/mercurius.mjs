// Mercurius with JIT: `node mercurius.mjs sdk` on the AWS SDK, `node mercurius.mjs raw` on a hand-made client.
import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import mercurius from 'mercurius'
import { createRawClient } from './raw-client.mjs'
import { createContext, resolvers } from './resolvers.mjs'
import { createSdkClient } from './sdk-client.mjs'
import { createStore } from './store.mjs'
import { callerOf } from './token.mjs'

const store = createStore(process.argv[2] === 'raw' ? createRawClient() : createSdkClient())
const { Node, ...ofObjects } = resolvers
const app = Fastify({ logger: false })
app.register(mercurius, {
  schema: readFileSync(new URL('schema.graphql', import.meta.url), 'utf8'),
  resolvers: { ...ofObjects, Node: { resolveType: Node.resolveType } },
  context: ({ headers }) => createContext(store, callerOf(headers.authorization)),
  jit: 1,
  allowBatchedQueries: false
})
await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`listening ${app.server.address().port}\n`)
