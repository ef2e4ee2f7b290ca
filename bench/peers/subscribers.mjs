// Subscribers over WebSockets, and the changes that they are told of: `node subscribers.mjs`.
//
// Reads one command as a line of JSON from standard input, writes its result as a line to standard output, and waits
// for the next one. Changes are sent at a fixed rate, whatever the responses take. The latency of an event is the time
// from the moment when its change was due to be sent.
import http from 'node:http'
import readline from 'node:readline'
import WebSocket from 'ws'

const OPENING = 20
const groups = new Map()
const lockers = new Map()
const agent = new http.Agent({ keepAlive: true, maxSockets: 32 })
const commands = { open, close, change }

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { command, ...options } = JSON.parse(line)
  process.stdout.write(`${JSON.stringify(await commands[command](options))}\n`)
}

// Subscribers of one server, each on a connection of its own.
async function open({ group, port, tokens, count, query, variables }) {
  const opened = { sockets: [], received: () => {}, failures: [] }
  groups.set(group, opened)
  let next = 0
  await Promise.all(
    Array.from({ length: OPENING }, async () => {
      while (next < count) {
        const authorization = tokens[next++ % tokens.length]
        opened.sockets.push(await subscribed(opened, port, authorization, { query, variables }))
      }
    })
  )
  return { opened: opened.sockets.length }
}

function subscribed(group, port, authorization, payload) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false })
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } })))
    socket.on('error', reject)
    socket.on('close', (code, reason) => group.failures.push(`closed with ${code} ${reason}`))
    socket.on('message', (data) => {
      const message = JSON.parse(data)
      if (message.type === 'next' && message.payload.errors === undefined) {
        const [{ lockerId, version }] = Object.values(message.payload.data)
        group.received(`${lockerId} ${version}`)
      } else if (message.type === 'connection_ack') {
        socket.send(JSON.stringify({ id: crypto.randomUUID(), type: 'subscribe', payload }))
        resolve(socket)
      } else if (message.type === 'ping') {
        socket.send('{"type":"pong"}')
      } else if (message.type !== 'pong') {
        group.failures.push(data.toString())
      }
    })
  })
}

async function close({ group }) {
  const { sockets } = groups.get(group)
  groups.delete(group)
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => {
      socket.removeAllListeners('close')
      socket.on('close', resolve)
      socket.close()
    }))
  )
  return { closed: sockets.length }
}

// Changes lockers in turn, and waits until every subscriber of the groups was told of each change.
async function change({ port, headers, query, changed, rate, count, told, patience }) {
  for (const one of changed) if (!lockers.has(one.lockerId)) lockers.set(one.lockerId, { ...one, before: Promise.resolve() })
  const turn = changed.map(({ lockerId }) => lockers.get(lockerId))
  const due = new Map()
  const watched = told.map((name) => watch(name, groups.get(name), due, count, patience))
  const failures = []
  const begin = performance.now()
  const sent = []
  for (let number = 0; number < count; number += 1) {
    const at = begin + (number * 1000) / rate
    const wait = at - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    sent.push(changeOne(turn[number % turn.length], { port, headers, query }, (key) => due.set(key, at), failures))
  }
  await Promise.all(sent)
  const seconds = (performance.now() - begin) / 1000
  await Promise.all(watched.map(({ complete }) => complete))
  return {
    seconds,
    failures: [...failures, ...watched.flatMap(({ group }) => group.failures)].slice(0, 5),
    groups: Object.fromEntries(watched.map(({ name, figures }) => [name, figures()]))
  }
}

function watch(name, group, due, count, patience) {
  const latencies = []
  const expected = group.sockets.length * count
  let timer
  const complete = new Promise((resolve) => {
    const postpone = () => {
      clearTimeout(timer)
      timer = setTimeout(resolve, patience)
    }
    postpone()
    let late = performance.now()
    group.received = (key) => {
      const now = performance.now()
      const at = due.get(key)
      if (at === undefined) return
      latencies.push(now - at)
      if (latencies.length === expected) {
        clearTimeout(timer)
        resolve()
      } else if (now - late > 1000) {
        late = now
        postpone()
      }
    }
  })
  const figures = () => {
    const sorted = latencies.slice().sort((a, b) => a - b)
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
    const half = latencies.slice(latencies.length / 2).sort((a, b) => a - b)
    return {
      received: latencies.length,
      expected,
      p50: at(0.5),
      p99: at(0.99),
      max: sorted.at(-1) ?? null,
      secondHalfP50: half[Math.floor(half.length / 2)] ?? null
    }
  }
  return { name, group, complete, figures }
}

// A locker is occupied and freed in turn; its changes wait for each other.
function changeOne(locker, { port, headers, query }, note, failures) {
  locker.before = locker.before.then(async () => {
    const newStatus = locker.status === 'AVAILABLE' ? 'OCCUPIED' : 'AVAILABLE'
    const input = { lockerId: locker.lockerId, newStatus, expectedVersion: locker.version }
    note(`${locker.lockerId} ${locker.version + 1}`)
    const body = await posted(port, headers, JSON.stringify({ query, variables: { input } }))
    if (body.includes('"userErrors":[]')) {
      locker.status = newStatus
      locker.version += 1
    } else {
      failures.push(body)
    }
  })
  return locker.before
}

function posted(port, headers, body) {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/graphql', method: 'POST', agent }
    const length = Buffer.byteLength(body)
    const request = http.request(
      { ...options, headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': length } },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => (text += part))
        response.on('end', () => resolve(text))
      }
    )
    request.on('error', reject)
    request.end(body)
  })
}
