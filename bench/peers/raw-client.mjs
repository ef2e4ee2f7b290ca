// A hand-made client: undici, SigV4 with a cached signing key, and JSON.
import { createHash, createHmac } from 'node:crypto'
import { Pool } from 'undici'

const REGION = 'eu-central-1'
const ACCESS_KEY = 'local'
const SECRET_KEY = 'local'
const SIGNED = 'content-type;host;x-amz-date;x-amz-target'

const sha256 = (text) => createHash('sha256').update(text).digest('hex')
const hmac = (secret, text) => createHmac('sha256', secret).update(text).digest()

export function createRawClient() {
  const url = new URL(process.env.ENDPOINT_URL)
  const pool = new Pool(url.origin, { connections: 64, pipelining: 1 })
  let day = ''
  let signingKey = null

  function authorization(target, time, body) {
    if (day !== time.slice(0, 8)) {
      day = time.slice(0, 8)
      signingKey = hmac(hmac(hmac(hmac(`AWS4${SECRET_KEY}`, day), REGION), 'dynamodb'), 'aws4_request')
    }
    const scope = `${day}/${REGION}/dynamodb/aws4_request`
    const canonical =
      `POST\n/\n\ncontent-type:application/x-amz-json-1.0\nhost:${url.host}\nx-amz-date:${time}\n` +
      `x-amz-target:${target}\n\n${SIGNED}\n${sha256(body)}`
    const signature = createHmac('sha256', signingKey)
      .update(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`)
      .digest('hex')
    return `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/${scope}, SignedHeaders=${SIGNED}, Signature=${signature}`
  }

  return async (operation, request) => {
    const body = JSON.stringify(request)
    const target = `DynamoDB_20120810.${operation}`
    const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
    const response = await pool.request({
      method: 'POST',
      path: '/',
      body,
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-date': time,
        'x-amz-target': target,
        authorization: authorization(target, time, body)
      }
    })
    const content = await response.body.text()
    if (response.statusCode !== 200) throw new Error(`${operation}: ${content}`)
    return JSON.parse(content)
  }
}
