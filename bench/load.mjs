// A closed-loop HTTP client: each connection sends its next request when the response to the last one is complete.
//
// Reads one run as a line of JSON from standard input, writes its figures as a line to standard output, and waits for
// the next one. No request is dropped: at the end of a run the responses that are still due are waited for.
import net from 'node:net'
import readline from 'node:readline'

const END = Buffer.from('\r\n\r\n')
const ERRORS = Buffer.from('"errors":')
const NO_BYTES = Buffer.alloc(0)
const HOUR = 3_600_000
const PATIENCE_MS = 20_000
let unique = 0

const lines = readline.createInterface({ input: process.stdin })
for await (const line of lines) {
  const run = JSON.parse(line)
  process.stdout.write(`${JSON.stringify(await measured(run))}\n`)
}

async function measured(run) {
  const latencies = []
  const failures = []
  const bodies = Array.from({ length: run.connections }, (_, index) => bodySource(run, index))
  const sockets = await Promise.all(bodies.map(() => connected(run.port)))
  const begin = performance.now()
  const until = begin + run.seconds * 1000
  const limit = run.requests ?? Infinity
  let sent = 0
  const mayGoOn = () => failures.length === 0 && performance.now() < until && sent < limit
  const count = () => (sent += 1)
  await Promise.all(
    sockets.map((socket, index) => drive(socket, run, bodies[index], latencies, failures, mayGoOn, count))
  )
  const seconds = (performance.now() - begin) / 1000
  for (const socket of sockets) socket.destroy()
  latencies.sort((a, b) => a - b)
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return {
    requests: latencies.length,
    errors: failures.length,
    error: failures[0] ?? null,
    seconds,
    p50: at(0.5),
    p99: at(0.99),
    max: latencies.at(-1) ?? 0,
    used: bodies.map((source) => source.used())
  }
}

function connected(port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

function drive(socket, run, source, latencies, failures, mayGoOn, count) {
  return new Promise((resolve) => {
    const expected = Buffer.from(run.expect)
    let pending = NO_BYTES
    let begin = 0
    let timer = null
    let isOver = false

    const send = () => {
      if (!mayGoOn()) {
        finish()
        return
      }
      count()
      begin = performance.now()
      socket.write(source.next())
    }
    const finish = (failure) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      if (failure !== undefined) failures.push(failure)
      resolve()
    }
    timer = setTimeout(() => finish('no response in time'), run.seconds * 1000 + PATIENCE_MS)
    socket.on('error', (error) => finish(String(error)))
    socket.on('close', () => finish('the connection was closed'))
    socket.on('data', (data) => {
      pending = pending.length ? Buffer.concat([pending, data]) : data
      const end = pending.indexOf(END)
      if (end < 0) return
      const head = pending.latin1Slice(0, end)
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)
      if (length === null) {
        finish(`a response without Content-Length: ${head}`)
        return
      }
      const total = end + END.length + Number(length[1])
      if (pending.length < total) return
      const isLong = pending.length > total
      const isGood =
        head.startsWith('HTTP/1.1 200') &&
        !isLong &&
        pending.indexOf(expected) > 0 &&
        pending.indexOf(ERRORS) < 0
      if (!isGood) {
        finish(pending.toString('utf8', 0, 2000))
        return
      }
      latencies.push(performance.now() - begin)
      pending = NO_BYTES
      source.done()
      send()
    })
    send()
  })
}

// The requests of one connection, as bytes.
function bodySource(run, index) {
  const head = (length) =>
    `POST ${run.path} HTTP/1.1\r\nHost: 127.0.0.1:${run.port}\r\nContent-Type: application/json\r\n` +
    Object.entries(run.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`).join('') +
    `Content-Length: ${length}\r\n\r\n`
  const request = (body) => head(Buffer.byteLength(body)) + body
  const query = JSON.stringify(run.query)
  let used = 0
  const source = (next) => ({ next, done: () => (used += 1), used: () => used })
  switch (run.kind) {
    case 'raw':
      return source(constantly(Buffer.from(request(run.body))))
    case 'fixed':
      return source(constantly(Buffer.from(request(`{"query":${query},"variables":${JSON.stringify(run.variables)}}`))))
    case 'unique': {
      // With `repeated`, each document is sent so many times before the next one.
      const [before, after] = query.split('UNIQUE')
      return source(() => {
        unique += 1
        const number = Math.floor(unique / (run.repeated ?? 1))
        return request(`{"query":${before}${run.mark}_${String(number).padStart(9, '0')}${after}}`)
      })
    }
    case 'status': {
      // A locker of this connection's own, occupied and freed in turn.
      const { lockerId, version, status } = run.lockers[index]
      return source(() => {
        const other = (status === 'AVAILABLE') === (used % 2 === 0) ? 'OCCUPIED' : 'AVAILABLE'
        const input = { lockerId, newStatus: other, expectedVersion: version + used }
        return request(`{"query":${query},"variables":{"input":${JSON.stringify(input)}}}`)
      })
    }
    case 'reservation': {
      // One hour after another on a locker of this connection's own, backward in time: so no request finds the
      // reservations of those before it in the window that it looks at.
      const { lockerId, ownerId, before } = run.lockers[index]
      return source(() => {
        const end = new Date(Date.parse(before) - used * HOUR).toISOString()
        const start = new Date(Date.parse(before) - (used + 1) * HOUR).toISOString()
        // The owner's copies are ordered by start and id, so the id is unique among all lockers.
        const reservationId = `${lockerId}-${start.slice(0, 13)}`
        const input = { lockerId, ownerId, reservationId, startAt: start, endAt: end }
        return request(`{"query":${query},"variables":{"input":${JSON.stringify(input)}}}`)
      })
    }
    default:
      throw new Error(`no kind ${run.kind}`)
  }
}

function constantly(value) {
  return () => value
}
