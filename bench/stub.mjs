// A store that replays: answers requests of DynamoDB's protocol with responses recorded from a real store.
//
//   node stub.mjs <url of the real store>
//
// While it records, it forwards reads that it has not seen and keeps their responses; it never forwards writes. When it
// replays, a request that was not recorded is an error. POST /record and POST /replay switch; GET /counts tells how
// many requests there were of each operation, and how many could not be answered.
import http from 'node:http'
import net from 'node:net'
import zlib from 'node:zlib'

const upstream = new URL(process.argv[2])
const WRITES = new Set(['TransactWriteItems', 'PutItem', 'UpdateItem', 'BatchWriteItem', 'DeleteItem'])
const END = Buffer.from('\r\n\r\n')
const NO_BYTES = Buffer.alloc(0)
const MAX_SPELLINGS = 20_000

const bySpelling = new Map()
const byMeaning = new Map()
const counts = {}
let isRecording = true
let unknown = 0

const WRITTEN = response(200, Buffer.from('{}'))
const WRITTEN_WITH_CAPACITY = response(
  200,
  Buffer.from('{"ConsumedCapacity":[{"TableName":"SmartLocker","CapacityUnits":4.0,"WriteCapacityUnits":4.0}]}')
)
const UNKNOWN = response(
  400,
  Buffer.from('{"__type":"com.amazon.coral.validate#ValidationException","message":"not recorded"}')
)

net.createServer({ noDelay: true }, serve).listen(0, '127.0.0.1', function () {
  process.stdout.write(`listening ${this.address().port}\n`)
})

function serve(socket) {
  let pending = NO_BYTES
  let head = null
  socket.on('error', () => socket.destroy())
  socket.on('data', (data) => {
    pending = pending.length ? Buffer.concat([pending, data]) : data
    for (;;) {
      if (head === null) {
        const end = pending.indexOf(END)
        if (end < 0) return
        head = parsedHead(pending.latin1Slice(0, end), end + END.length)
      }
      if (pending.length < head.end + head.length) return
      const body = pending.latin1Slice(head.end, head.end + head.length)
      pending = pending.length === head.end + head.length ? NO_BYTES : pending.subarray(head.end + head.length)
      const request = head
      head = null
      answer(socket, request, body)
    }
  })
}

function parsedHead(text, end) {
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)
  const target = /\r\nx-amz-target: *DynamoDB_20120810\.(\w+)/i.exec(text)
  return { end, length: length ? Number(length[1]) : 0, operation: target?.[1], line: target ? '' : text.slice(0, 64) }
}

function answer(socket, { operation, line }, body) {
  if (operation === undefined) {
    socket.write(response(200, Buffer.from(JSON.stringify(control(line)))))
    return
  }
  // SmartLocker reads this item by itself, to know that the store works: it belongs to no request.
  if (!body.includes('"FORMAT"')) counts[operation] = (counts[operation] ?? 0) + 1
  if (WRITES.has(operation)) {
    socket.write(body.includes('"ReturnConsumedCapacity"') ? WRITTEN_WITH_CAPACITY : WRITTEN)
    return
  }
  const spelling = operation + body
  const known = bySpelling.get(spelling)
  if (known !== undefined) {
    socket.write(known)
    return
  }
  const meaning = operation + canonical(JSON.parse(Buffer.from(body, 'latin1')))
  const recorded = byMeaning.get(meaning)
  if (recorded !== undefined) {
    if (bySpelling.size < MAX_SPELLINGS) bySpelling.set(spelling, recorded)
    socket.write(recorded)
  } else if (isRecording) {
    forward(operation, body, (status, content) => {
      const found = response(status, content)
      if (status === 200) {
        byMeaning.set(meaning, found)
        bySpelling.set(spelling, found)
      }
      socket.write(found)
    })
  } else {
    unknown += 1
    socket.write(UNKNOWN)
  }
}

function control(line) {
  if (line.startsWith('POST /record')) isRecording = true
  if (line.startsWith('POST /replay')) isRecording = false
  return { counts, unknown, recorded: byMeaning.size, isRecording }
}

function forward(operation, body, done) {
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'x-amz-date': '20260101T000000Z',
    authorization: 'AWS4-HMAC-SHA256 Credential=local/20260101/eu-central-1/dynamodb/aws4_request, ' +
      'SignedHeaders=host;x-amz-date;x-amz-target, Signature=0'
  }
  const request = http.request(upstream, { method: 'POST', headers }, (reply) => {
    const chunks = []
    reply.on('data', (chunk) => chunks.push(chunk))
    reply.on('end', () => done(reply.statusCode, Buffer.concat(chunks)))
  })
  request.on('error', (error) => done(500, Buffer.from(JSON.stringify({ message: String(error) }))))
  request.end(Buffer.from(body, 'latin1'))
}

function response(status, body) {
  const head =
    `HTTP/1.1 ${status} ${status === 200 ? 'OK' : 'Error'}\r\nContent-Type: application/x-amz-json-1.0\r\n` +
    `Content-Length: ${body.length}\r\nx-amzn-RequestId: 00000000-0000-0000-0000-000000000000\r\n` +
    `x-amz-crc32: ${zlib.crc32(body)}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

// The same for requests that mean the same: members in any order, the keys of a batch in any order.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}
