// Mercurius with its subscriptions, on the emitter that it comes with (mqemitter): `node mercurius-live.mjs`.
//
// A change is published in this process when it is committed, with the locker as it was written; nothing is read for
// subscribers, and what happens while a client is away is lost.
import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import mercurius from 'mercurius'
import { createContext, resolvers } from './resolvers.mjs'
import { createSdkClient } from './sdk-client.mjs'
import { createStore } from './store.mjs'
import { callerOf } from './token.mjs'

const SUBSCRIPTIONS = `
type Activity {
  activityId: ID!
  kind: String!
  occurredAt: DateTime!
  lockerId: ID
  version: Int
  locker: Locker
}
type Subscription {
  locationActivity(locationId: ID!): Activity
}
`
const store = createStore(createSdkClient())
const { Node, Mutation, ...ofObjects } = resolvers
const app = Fastify({ logger: false })
app.register(mercurius, {
  schema: readFileSync(new URL('schema.graphql', import.meta.url), 'utf8') + SUBSCRIPTIONS,
  resolvers: {
    ...ofObjects,
    Node: { resolveType: Node.resolveType },
    Mutation: { ...Mutation, updateLockerStatus },
    Subscription: {
      locationActivity: { subscribe: (_, { locationId }, { pubsub }) => pubsub.subscribe(`location:${locationId}`) }
    }
  },
  context: ({ headers }) => createContext(store, callerOf(headers.authorization)),
  subscription: {
    onConnect: ({ payload }) => ({ caller: callerOf(payload.authorization) }),
    context: () => createContext(store)
  },
  jit: 1,
  allowBatchedQueries: false
})
await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`listening ${app.server.address().port}\n`)

async function updateLockerStatus(parent, given, context) {
  const payload = await Mutation.updateLockerStatus(parent, given, context)
  const { locker } = payload
  if (locker) {
    const locationActivity = {
      activityId: crypto.randomUUID(),
      kind: 'LOCKER_STATUS_CHANGED',
      occurredAt: locker.updatedAt,
      lockerId: locker.lockerId,
      version: locker.version,
      locker
    }
    context.pubsub.publish({ topic: `location:${locker.locationId}`, payload: { locationActivity } })
  }
  return payload
}
