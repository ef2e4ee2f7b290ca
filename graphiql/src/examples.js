// The tabs of a first visit. They run on the demo data for every demo user, in any order and any number of times: all use what
// belongs to the demo owner, and each that writes has a locker of its own, which neither the README nor another tab changes.
import activity from './examples/activity.graphql?raw';
import changes from './examples/changes.graphql?raw';
import first from './examples/first.graphql?raw';
import lockersNow from './examples/now.graphql?raw';
import reserve from './examples/reserve.graphql?raw';
import stale from './examples/stale.graphql?raw';
import viewer from './examples/viewer.graphql?raw';

// server/auth/development.py offers its token.
const DEMO_OWNER = 'owner-0002';
const RESERVED_LOCKER = 'locker-000026';
const DAY = 24 * 60 * 60 * 1000;

/** The tabs; the reservation starts in three days, later than all reservations of the demo data. */
export function exampleTabs(now) {
  const day = new Date(now.getTime() + 3 * DAY).toISOString().slice(0, 10);
  return [
    { query: first },
    { query: lockersNow, variables: asJson({ ownerId: DEMO_OWNER, first: 5 }) },
    { query: stale },
    {
      query: reserve,
      variables: asJson({
        input: {
          lockerId: RESERVED_LOCKER,
          reservationId: `graphiql-${day}`,
          ownerId: DEMO_OWNER,
          startAt: `${day}T09:00:00Z`,
          endAt: `${day}T17:00:00Z`,
        },
      }),
    },
    { query: activity, variables: asJson({ ownerId: DEMO_OWNER, first: 10 }) },
    { query: changes, variables: asJson({ lockerId: RESERVED_LOCKER, after: now.toISOString() }) },
    { query: viewer },
  ];
}

function asJson(content) {
  return JSON.stringify(content, null, 2);
}
