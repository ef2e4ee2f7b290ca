// What the resolvers ask of the table. `send` is the client: the SDK's, or the hand-made one.
const TABLE = process.env.TABLE
const PAGE_LIMIT = 100

export const key = (pk, sk) => ({ PK: { S: pk }, SK: { S: sk } })

export function createStore(send) {
  return {
    async get(itemKey, consistent = false) {
      const answer = await send('GetItem', { TableName: TABLE, Key: itemKey, ConsistentRead: consistent })
      return answer.Item
    },

    // The items in the order of the keys, undefined where there is none.
    async batchGet(keys, consistent = false) {
      const found = new Map()
      let request = { [TABLE]: { Keys: keys, ConsistentRead: consistent } }
      while (request[TABLE] !== undefined) {
        const answer = await send('BatchGetItem', { RequestItems: request })
        for (const item of answer.Responses[TABLE] ?? []) found.set(`${item.PK.S} ${item.SK.S}`, item)
        request = answer.UnprocessedKeys ?? {}
      }
      return keys.map(({ PK, SK }) => found.get(`${PK.S} ${SK.S}`))
    },

    async query(condition, values, { limit = PAGE_LIMIT, forward = true, consistent = false } = {}) {
      const answer = await send('Query', {
        TableName: TABLE,
        KeyConditionExpression: condition,
        ExpressionAttributeNames: { '#PK': 'PK', '#SK': 'SK' },
        ExpressionAttributeValues: values,
        Limit: limit,
        ScanIndexForward: forward,
        ConsistentRead: consistent
      })
      return answer.Items
    },

    async transact(steps) {
      await send('TransactWriteItems', { TransactItems: steps, ClientRequestToken: crypto.randomUUID() })
    }
  }
}

export const put = (itemKey, attributes, condition, values) => ({
  Put: { ...conditioned(condition, values, {}), Item: { ...itemKey, ...attributes } }
})

export const check = (itemKey, condition, values) => ({
  ConditionCheck: { ...conditioned(condition, values, {}), Key: itemKey }
})

export function update(itemKey, attributes, condition, values) {
  const assignments = Object.keys(attributes).map((name) => `#${name} = :${name}`)
  const expression = `SET ${assignments.join(', ')}`
  return {
    Update: { ...conditioned(condition, values, attributes, expression), Key: itemKey, UpdateExpression: expression }
  }
}

function conditioned(condition, values = {}, attributes, expression = '') {
  const names = new Set(`${condition} ${expression}`.match(/(?<=#)\w+/g))
  const all = { ...values }
  for (const [name, value] of Object.entries(attributes)) all[`:${name}`] = value
  const request = {
    TableName: TABLE,
    ConditionExpression: condition,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ExpressionAttributeNames: Object.fromEntries([...names].map((name) => [`#${name}`, name]))
  }
  return Object.keys(all).length ? { ...request, ExpressionAttributeValues: all } : request
}
