// Apollo Server on the AWS SDK.
import { readFileSync } from 'node:fs'
import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { createContext, resolvers } from './resolvers.mjs'
import { createSdkClient } from './sdk-client.mjs'
import { createStore } from './store.mjs'
import { callerOf } from './token.mjs'

const store = createStore(createSdkClient())
const { Node, ...ofObjects } = resolvers
const server = new ApolloServer({
  typeDefs: readFileSync(new URL('schema.graphql', import.meta.url), 'utf8'),
  resolvers: { ...ofObjects, Node: { __resolveType: Node.resolveType } },
  introspection: false
})
const { url } = await startStandaloneServer(server, {
  listen: { port: 0, host: '127.0.0.1' },
  context: async ({ req }) => createContext(store, callerOf(req.headers.authorization))
})
process.stdout.write(`listening ${new URL(url).port}\n`)
