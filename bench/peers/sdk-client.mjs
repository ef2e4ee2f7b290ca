// AWS SDK v3, its low-level client.
import {
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  TransactWriteItemsCommand
} from '@aws-sdk/client-dynamodb'

const COMMANDS = {
  BatchGetItem: BatchGetItemCommand,
  GetItem: GetItemCommand,
  Query: QueryCommand,
  TransactWriteItems: TransactWriteItemsCommand
}

export function createSdkClient() {
  const client = new DynamoDBClient({
    endpoint: process.env.ENDPOINT_URL,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: { httpAgent: { keepAlive: true, maxSockets: 64 } }
  })
  return (operation, request) => client.send(new COMMANDS[operation](request))
}
