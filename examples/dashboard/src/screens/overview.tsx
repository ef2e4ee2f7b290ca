import { OverviewDocument, OverviewLiveDocument, type OverviewQuery } from "../api/documents";
import { useLive, useScreen } from "../api/hooks";
import { STATUSES, statusName } from "../parts/format";
import { type Spot, WorldMap } from "../parts/map";
import { AsOf, Figure, Notice, Waiting } from "../parts/parts";
import { type Column, Table } from "../parts/table";

type Place = NonNullable<OverviewQuery["locationFigures"]>["nodes"][number];

const count = (place: Place, status: string): number =>
  place.lockers.filter((one) => one.status === status).reduce((sum, one) => sum + one.count, 0);

const share = (place: Place): number => {
  const all = STATUSES.reduce((sum, status) => sum + count(place, status), 0);
  return all === 0 ? 0 : count(place, "OCCUPIED") / all;
};

const LOCATION: Column<Place> = {
  title: "Location",
  cell: (place) => (
    <>
      <a href={`#/location/${place.locationId}`}>{place.location?.name ?? place.locationId}</a> <small>{place.location?.address.city}</small>
    </>
  ),
};
const COLUMNS: readonly Column<Place>[] = [
  {
    title: "Lockers",
    cell: (place) => (
      <div className="bar" aria-hidden="true">
        {STATUSES.map((status) => (
          <span key={status} className={status.toLowerCase()} style={{ flexGrow: count(place, status) }} />
        ))}
      </div>
    ),
  },
  ...STATUSES.map((status) => ({ title: statusName(status), isNumber: true, cell: (place: Place) => count(place, status) })),
  { title: "Reservations", isNumber: true, cell: ({ liveReservations }) => liveReservations },
  { title: "Overdue", isNumber: true, cell: ({ overdue }) => overdue, alarms: ({ overdue }) => overdue > 0 },
];

export function Overview() {
  const { data, error, reload, change } = useScreen(OverviewDocument, {});
  useLive(
    OverviewLiveDocument,
    {},
    (event) => {
      const status = event.changes.find(({ field }) => field === "status");
      if (status === undefined) return;
      change((before) => ({
        ...before,
        locationFigures: before.locationFigures && {
          ...before.locationFigures,
          nodes: before.locationFigures.nodes.map((place) =>
            // What is counted already is in the figures.
            place.locationId !== event.locationId || (place.asOf ?? "") >= event.occurredAt
              ? place
              : moved(place, status.from, status.to),
          ),
        },
      }));
    },
    reload,
  );
  const places = [...(data?.locationFigures?.nodes ?? [])].sort((one, other) =>
    (one.location?.name ?? "").localeCompare(other.location?.name ?? ""),
  );
  const oldest = places.map(({ asOf }) => asOf ?? "").sort()[0];
  const sum = (number: (place: Place) => number): number => places.reduce((all, place) => all + number(place), 0);
  const spots: Spot[] = places.flatMap((place) => {
    const { lat, lng } = place.location?.address ?? {};
    return lat && lng
      ? [{ id: place.locationId, name: place.location?.name ?? place.locationId, lat: +lat, lng: +lng, share: share(place), alarms: place.overdue > 0 }]
      : [];
  });
  return (
    <main>
      <h1>Locations</h1>
      <Notice error={error} />
      {data?.viewer.ownerId && (
        <p>
          <a href={`#/owner/${data.viewer.ownerId}`}>Your lockers</a>
        </p>
      )}
      {data === null && error === null && <Waiting what="locations" />}
      {places.length > 0 && (
        <>
          <dl className="figures">
            {STATUSES.map((status) => (
              <Figure key={status} label={statusName(status)} value={sum((place) => count(place, status))} />
            ))}
            <Figure label="Reservations" value={sum(({ liveReservations }) => liveReservations)} />
            <Figure label="Overdue" value={sum(({ overdue }) => overdue)} alarms={places.some(({ overdue }) => overdue > 0)} />
          </dl>
          <p>
            <AsOf at={oldest} />
          </p>
          <WorldMap spots={spots} />
          <Table label="Locations" first={LOCATION} columns={COLUMNS} rows={places} keyOf={({ locationId }) => locationId} />
        </>
      )}
    </main>
  );
}

function moved(place: Place, from: string | null | undefined, to: string | null | undefined): Place {
  const lockers = place.lockers.map((one) => ({ ...one }));
  const first = lockers.find(({ status, count: number }) => status === from && number > 0);
  if (first !== undefined) first.count -= 1;
  const second = lockers.find(({ status }) => status === to);
  if (second !== undefined) second.count += 1;
  else if (to) lockers.push({ status: to as (typeof lockers)[number]["status"], count: 1 });
  return { ...place, lockers };
}
