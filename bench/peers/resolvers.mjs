// The resolvers of all Node servers: the same reads and writes as SmartLocker's, batched by DataLoader.
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import DataLoader from 'dataloader'
import { check, key, put, update } from './store.mjs'

const LATEST = '9999-12-31T23:59:59.999Z'
const EARLIEST = '0001-01-01T00:00:00.000Z'
const SLOTS = 1000
const IS_NEW = 'attribute_not_exists(#PK)'

const lockerKey = (id) => key(`LOCKER#${id}`, 'META')
const pointerKey = (id) => key(`LOCKER#${id}`, 'RES#ACTIVE')
const ownerKey = (id) => key(`OWNER#${id}`, 'META')

const globalId = (...parts) => Buffer.from(parts.join('/')).toString('base64url')

const asLocker = (item) => ({
  __typename: 'Locker',
  lockerId: item.lockerId.S,
  ownerId: item.ownerId.S,
  locationId: item.locationId?.S,
  alias: item.alias?.S,
  status: item.status.S,
  updatedAt: item.updatedAt.S,
  createdAt: item.createdAt?.S,
  version: item.version && Number(item.version.N)
})

const asReservation = (item) => ({
  __typename: 'Reservation',
  reservationId: item.reservationId.S,
  lockerId: item.lockerId.S,
  ownerId: item.ownerId.S,
  startAt: item.startAt.S,
  endAt: item.endAt.S,
  status: item.status.S === 'ACTIVE' && item.startAt.S > new Date().toISOString() ? 'UPCOMING' : item.status.S
})

const asOwner = (item) => ({ __typename: 'Owner', ownerId: item.ownerId.S, name: item.name.S })

export function createContext(store, caller) {
  const loader = (keyOf, decoded) =>
    new DataLoader(
      async (ids) => {
        const items = ids.length === 1 ? [await store.get(keyOf(ids[0]))] : await store.batchGet(ids.map(keyOf))
        return items.map((item) => (item === undefined ? null : decoded(item)))
      },
      { maxBatchSize: 100 }
    )
  return {
    store,
    caller,
    lockers: loader(lockerKey, asLocker),
    owners: loader(ownerKey, asOwner),
    pointers: loader(pointerKey, asReservation)
  }
}

const page = (items, first, decoded) => ({
  nodes: items.slice(0, first).map(decoded),
  pageInfo: { hasNextPage: items.length > first }
})

// A list's copy of a locker has no version and no time of creation: these are the record's.
const ofRecord = (name) => (locker, _, context) =>
  locker[name] ?? context.lockers.load(locker.lockerId).then((record) => record[name])

export const resolvers = {
  Node: { resolveType: (node) => node.__typename },

  Query: {
    locker: (_, { lockerId }, context) => context.lockers.load(lockerId),
    // As in SmartLocker, an owner of whom nothing but the id and the lists are selected is not read.
    owner: (_, { ownerId }) => ({ __typename: 'Owner', ownerId }),
    nodes: (_, { ids }, context) =>
      ids.map((id) => {
        const [type, ...parts] = Buffer.from(id, 'base64url').toString().split('/')
        if (type === 'Locker') return context.lockers.load(parts[0])
        return type === 'Owner' ? context.owners.load(parts[0]) : null
      })
  },

  Owner: {
    id: ({ ownerId }) => globalId('Owner', ownerId),
    name: ({ ownerId, name }, _, context) => name ?? context.owners.load(ownerId).then((record) => record.name),
    lockers: async ({ ownerId }, { first = 25 }, { store }) => {
      const values = { ':pk': { S: `OWNER#${ownerId}` }, ':prefix': { S: 'LOCKER#' } }
      const items = await store.query('#PK = :pk AND begins_with(#SK, :prefix)', values, { limit: first + 1 })
      return page(items, first, asLocker)
    }
  },

  Locker: {
    id: ({ lockerId }) => globalId('Locker', lockerId),
    version: ofRecord('version'),
    createdAt: ofRecord('createdAt'),
    activeReservation: async ({ lockerId }, _, context) => {
      const pointed = await context.pointers.load(lockerId)
      const now = new Date().toISOString()
      return pointed !== null && pointed.startAt <= now && now < pointed.endAt ? pointed : null
    },
    reservations: async ({ lockerId }, { first = 25, window }, { store }) => {
      const low = { S: `RES#${window?.from ?? EARLIEST}` }
      const values = { ':pk': { S: `LOCKER#${lockerId}` }, ':low': low, ':high': { S: `RES#${window?.to ?? LATEST}~` } }
      const items = await store.query('#PK = :pk AND #SK BETWEEN :low AND :high', values, { limit: first + 1 })
      return page(items, first, asReservation)
    }
  },

  Reservation: {
    id: ({ lockerId, startAt, reservationId }) => globalId('Reservation', lockerId, startAt, reservationId)
  },

  Mutation: {
    updateLockerStatus: (_, { input }, { store, caller }) => updateLockerStatus(store, caller, input),
    createReservation: (_, { input }, { store, caller }) => createReservation(store, caller, input)
  }
}

const LOGGED_SECONDS = 30 * 24 * 3600

// What a transaction does, as SmartLocker logs it: who did it, the ids concerned, and the values that changed.
function logged(caller, place, happening) {
  const now = new Date().toISOString()
  const id = crypto.randomUUID()
  const shard = crc32(place) % 4
  return put(key(`LOG#${shard}`, `${now}#${id}`), {
    entityType: { S: 'LOG_ENTRY' },
    shard: { N: String(shard) },
    stamp: { S: now },
    entryId: { S: id },
    happenings: { S: JSON.stringify([{ n: 0, ...happening }]) },
    expiresAt: { N: String(Math.floor(Date.now() / 1000) + LOGGED_SECONDS) },
    actorSubject: { S: caller?.sub ?? 'nobody' },
    actorRole: { S: caller?.role ?? 'admin' }
  }, IS_NEW)
}

const refused = (code, message) => ({ userErrors: [{ code, message }] })

async function updateLockerStatus(store, caller, { lockerId, newStatus, expectedVersion }) {
  const item = await store.get(lockerKey(lockerId), true)
  if (item === undefined) return refused('NOT_FOUND', `Locker ${lockerId} does not exist.`)
  const locker = asLocker(item)
  if (locker.version !== expectedVersion) return refused('VERSION_CONFLICT', 'The locker has changed.')
  if (locker.status === newStatus) return refused('INVALID_TRANSITION', `The locker is already ${newStatus}.`)
  const changed = { ...locker, status: newStatus, version: locker.version + 1, updatedAt: new Date().toISOString() }
  const shown = { status: { S: newStatus }, updatedAt: { S: changed.updatedAt } }
  const index = {
    GSI1PK: { S: `OWNER#${locker.ownerId}#LOCKER#${newStatus}` },
    GSI1SK: { S: lockerId }
  }
  await store.transact([
    update(
      lockerKey(lockerId),
      { ...shown, version: { N: String(changed.version) }, lastChange: { S: crypto.randomUUID() } },
      '#version = :expectedVersion AND #ownerId = :readOwner',
      { ':expectedVersion': { N: String(expectedVersion) }, ':readOwner': { S: locker.ownerId } }
    ),
    update(
      key(`OWNER#${locker.ownerId}`, `LOCKER#${lockerId}`),
      { ...shown, alias: item.alias, reservableBy: item.reservableBy, size: item.size, features: item.features, ...index },
      'attribute_exists(#PK)'
    ),
    logged(caller, item.locationId?.S ?? locker.ownerId, {
      kind: 'locker.status_changed',
      lockerId,
      locationId: item.locationId?.S,
      ownerId: locker.ownerId,
      version: changed.version,
      status: newStatus,
      size: item.size.S,
      changes: [['status', locker.status, newStatus]]
    })
  ])
  return { locker: changed, userErrors: [] }
}

async function createReservation(store, caller, input) {
  const { lockerId, ownerId, startAt, endAt } = input
  const reservationId = input.reservationId ?? crypto.randomUUID()
  const [pk, ownerPk] = [`LOCKER#${lockerId}`, `OWNER#${ownerId}`]
  const guardKey = key(pk, 'GUARD#RES')
  const claimKey = key(pk, `RID#${reservationId}`)
  const keys = [guardKey, pointerKey(lockerId), claimKey, lockerKey(lockerId), ownerKey(ownerId)]
  const [guard, pointer, claim, locker, owner] = await store.batchGet(keys, true)
  if (claim !== undefined) return refused('ID_TAKEN', `The id ${reservationId} was used before.`)
  if (locker === undefined || owner === undefined) return refused('NOT_FOUND', 'The locker or owner does not exist.')
  if (locker.status.S === 'MAINTENANCE') return refused('LOCKER_IN_MAINTENANCE', 'The locker is in maintenance.')
  const values = { ':pk': { S: pk }, ':low': { S: `LIVE#${EARLIEST}` }, ':high': { S: `LIVE#${endAt}` } }
  const slotValues = { ':pk': { S: ownerPk }, ':prefix': { S: 'SLOT#' } }
  const [[before], slots] = await Promise.all([
    store.query('#PK = :pk AND #SK BETWEEN :low AND :high', values, { limit: 1, forward: false, consistent: true }),
    store.query('#PK = :pk AND begins_with(#SK, :prefix)', slotValues, { limit: SLOTS, consistent: true })
  ])
  if (before !== undefined && startAt < before.endAt.S) return refused('OVERLAP', 'Another reservation overlaps.')
  const taken = new Set(slots.map((item) => item.slot.S))
  const slot = Array.from({ length: SLOTS }, (_, i) => String(i).padStart(4, '0')).find((one) => !taken.has(one))
  if (slot === undefined) return refused('TOO_MANY_RESERVATIONS', 'The owner has too many reservations.')

  const now = new Date().toISOString()
  const content = JSON.stringify({ endAt, lockerId, ownerId, startAt })
  const revision = { N: String(Number(guard.revision.N) + 1) }
  const shown = {
    reservationId: { S: reservationId },
    lockerId: { S: lockerId },
    ownerId: { S: ownerId },
    startAt: { S: startAt },
    endAt: { S: endAt },
    status: { S: 'ACTIVE' },
    createdAt: { S: now },
    updatedAt: { S: now },
    version: { N: '1' }
  }
  const place = `RES#${startAt}#${reservationId}`
  const dueShard = { N: String(crc32(locker.locationId?.S ?? ownerId) % 4) }
  const due = { GSI1PK: { S: `DUE#${dueShard.N}` }, GSI1SK: { S: `${endAt}#${lockerId}#${reservationId}` } }
  const steps = [
    update(
      guardKey,
      {
        revision,
        changedStartAt: { S: startAt },
        changedReservationId: { S: reservationId },
        changedRevision: revision
      },
      '#revision = :readRevision',
      { ':readRevision': guard.revision }
    ),
    put(key(pk, place), { entityType: { S: 'RESERVATION' }, ...shown, revision, slot: { S: slot }, dueShard }, IS_NEW),
    put(
      key(pk, `LIVE#${startAt}#${reservationId}`),
      { entityType: { S: 'LIVE_RESERVATION' }, ...shown, revision, dueShard, ...due },
      IS_NEW
    ),
    put(
      key(ownerPk, `SLOT#${slot}`),
      {
        entityType: { S: 'RESERVATION_SLOT' },
        ownerId: { S: ownerId },
        slot: { S: slot },
        lockerId: { S: lockerId },
        reservationId: { S: reservationId },
        startAt: { S: startAt },
        endAt: { S: endAt }
      },
      'attribute_not_exists(#PK) OR #endAt <= :now',
      { ':now': { S: now } }
    ),
    put(
      claimKey,
      {
        entityType: { S: 'RESERVATION_CLAIM' },
        reservationId: { S: reservationId },
        lockerId: { S: lockerId },
        startAt: { S: startAt },
        fingerprint: { S: createHash('sha256').update(content).digest('hex') }
      },
      IS_NEW
    ),
    put(key(ownerPk, place), { entityType: { S: 'OWNER_RESERVATION' }, ...shown }, IS_NEW),
    check(
      pointerKey(lockerId),
      '#reservationId = :pointed AND #endAt = :pointedEnd AND #version = :pointedVersion AND #lastEndAt = :readLastEnd',
      {
        ':pointed': pointer.reservationId,
        ':pointedEnd': pointer.endAt,
        ':pointedVersion': pointer.version,
        ':readLastEnd': pointer.lastEndAt
      }
    ),
    check(
      lockerKey(lockerId),
      '#ownerId = :readOwner AND #status <> :maintenance AND #reservableBy = :readAudience',
      { ':readOwner': locker.ownerId, ':maintenance': { S: 'MAINTENANCE' }, ':readAudience': locker.reservableBy }
    )
  ]
  if (guard.changedStartAt !== undefined) {
    const last = key(pk, `RES#${guard.changedStartAt.S}#${guard.changedReservationId.S}`)
    steps.push(check(last, '#revision = :changedRevision', { ':changedRevision': guard.changedRevision }))
  }
  steps.push(
    logged(caller, locker.locationId?.S ?? ownerId, {
      kind: 'reservation.created',
      lockerId,
      locationId: locker.locationId?.S,
      ownerId,
      lockerOwnerId: locker.ownerId.S,
      reservationId,
      startAt,
      version: 1
    })
  )
  await store.transact(steps)
  return { reservation: asReservation(shown), userErrors: [] }
}
