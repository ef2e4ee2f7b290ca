import { OverviewDocument, OverviewLiveDocument, type OverviewQuery } from "../api/documents";
import { useLive, useScreen } from "../api/hooks";
import { STATUSES, statusName } from "../parts/format";
import { type Spot, WorldMap } from "../parts/map";
import { AsOf, Figure, Notice, Waiting } from "../parts/parts";

type Place = NonNullable<OverviewQuery["locationFigures"]>["nodes"][number];

const count = (place: Place, status: string): number =>
  place.lockers.filter((one) => one.status === status).reduce((sum, one) => sum + one.count, 0);

const share = (place: Place): number => {
  const all = STATUSES.reduce((sum, status) => sum + count(place, status), 0);
  return all === 0 ? 0 : count(place, "OCCUPIED") / all;
};

export function Overview() {
  const { data, error, reload, change } = useScreen(OverviewDocument, {});
  useLive(
    OverviewLiveDocument,
    {},
    (event) => {
      const status = event.changes.find(({ field }) => field === "status");
      if (event.kind !== "LOCKER_STATUS_CHANGED" || status === undefined) return;
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
      {data === null && error === null && <Waiting what="locations" />}
      {places.length > 0 && (
        <>
          <dl className="figures">
            {STATUSES.map((status) => (
              <Figure key={status} label={statusName(status)} value={places.reduce((sum, place) => sum + count(place, status), 0)} />
            ))}
            <Figure label="Reservations" value={places.reduce((sum, place) => sum + place.liveReservations, 0)} />
            <Figure label="Overdue" value={places.reduce((sum, { overdue }) => sum + overdue, 0)} alarms={places.some(({ overdue }) => overdue > 0)} />
          </dl>
          <p>
            <AsOf at={oldest} />
          </p>
          <WorldMap spots={spots} />
          <div className="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">Location</th>
                  {STATUSES.map((status) => (
                    <th key={status} scope="col" className="number">
                      {statusName(status)}
                    </th>
                  ))}
                  <th scope="col" className="number">
                    Reservations
                  </th>
                  <th scope="col" className="number">
                    Overdue
                  </th>
                </tr>
              </thead>
              <tbody>
                {places.map((place) => (
                  <tr key={place.locationId}>
                    <th scope="row">
                      <a href={`#/location/${place.locationId}`}>{place.location?.name ?? place.locationId}</a>
                      <small> {place.location?.address.city}</small>
                    </th>
                    {STATUSES.map((status) => (
                      <td key={status} className="number">
                        {count(place, status)}
                      </td>
                    ))}
                    <td className="number">{place.liveReservations}</td>
                    <td className={place.overdue > 0 ? "number alarm" : "number"}>{place.overdue}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
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
