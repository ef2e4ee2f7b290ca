import { useState } from "react";
import { BoardDocument, BoardLiveDocument, type BoardQuery, type DoorFragment } from "../api/documents";
import { message } from "../api/errors";
import { useApi, useLive, useScreen } from "../api/hooks";
import { clock, isLockedOut, shortTime, STATUSES, statusName, words } from "../parts/format";
import { AsOf, Figure, Notice, useNow, Waiting } from "../parts/parts";

type News = { id: string; at: string; text: string };

export function Board({ locationId }: { locationId: string }) {
  const { client } = useApi();
  const now = useNow();
  const { data, error, reload, change } = useScreen(BoardDocument, { locationId });
  const [news, setNews] = useState<News[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  useLive(
    BoardLiveDocument,
    { locationId },
    (event) => {
      const name = event.locker?.alias ?? event.lockerId;
      const who = event.actor?.subject ?? event.actor?.role.toLowerCase();
      const text = [clock(event.occurredAt), words(event.kind), name, who && `by ${who}`].filter(Boolean).join(" · ");
      // After a lost connection, some events from before come late.
      const added = { id: event.activityId, at: event.occurredAt, text };
      setNews((before) => [added, ...before].sort((one, other) => other.at.localeCompare(one.at)).slice(0, 20));
      const changed = event.locker;
      if (changed) change((before) => withDoors(before, (doors) => applied(doors, changed, locationId)));
      if (event.kind === "RESERVATION_OVERDUE" || (!changed && event.kind.startsWith("DOOR_LOCK"))) reload();
    },
    reload,
  );
  const more = async (after: string) => {
    const page = await client.query(BoardDocument, { locationId, after }).toPromise();
    setProblem(page.error ? message(page.error) : null);
    const next = page.data?.location?.lockers;
    if (next) change((before) => withDoors(before, (doors) => [...doors, ...next.nodes], next.nextCursor));
  };
  const place = data?.location;
  const doors = place?.lockers?.nodes ?? [];
  const next = place?.lockers?.nextCursor;
  const stayers = new Map(data?.overdueReservations?.nodes.map(({ lockerId, owner }) => [lockerId, owner?.name]));
  const groups = [...STATUSES, ...new Set(doors.map(({ status }) => status).filter((status) => !status || !STATUSES.includes(status)))];
  return (
    <main>
      <h1>{place?.name ?? "Location"}</h1>
      <Notice error={error ?? problem} />
      {data === null && error === null && <Waiting what="lockers" />}
      {place && (
        <>
          <p>
            {place.address.city}, {place.address.country} · {place.timeZone} · <a href={`#/usage/${locationId}`}>Usage</a>
          </p>
          <dl className="figures">
            <Figure label="Reservations" value={place.figures?.liveReservations ?? "–"} />
            <Figure label="Overdue" value={place.figures?.overdue ?? "–"} alarms={(place.figures?.overdue ?? 0) > 0} />
          </dl>
          <p>
            <AsOf at={place.figures?.asOf} />
          </p>
          {isLockedOut(place.lockout, now) && <p className="alarm">The door of the location is locked out until {clock(place.lockout?.lockedUntil ?? "")}.</p>}
          <div className="board">
            {groups.map((status) => (
              <Column key={status} title={statusName(status)} doors={doors.filter((door) => door.status === status)} stayers={stayers} />
            ))}
          </div>
          {next && (
            <button type="button" onClick={() => void more(next)}>
              More lockers
            </button>
          )}
          <section aria-labelledby="news" className="card">
            <h2 id="news">What happens</h2>
            <ol className="news" aria-live="polite">
              {news.map(({ id, text }) => (
                <li key={id} data-activity={id}>
                  {text}
                </li>
              ))}
            </ol>
            {news.length === 0 && <p className="waiting">Nothing in the last minute.</p>}
          </section>
        </>
      )}
    </main>
  );
}

type ColumnProps = { title: string; doors: readonly DoorFragment[]; stayers: ReadonlyMap<string, string | null | undefined> };

function Column({ title, doors, stayers }: ColumnProps) {
  const now = useNow();
  return (
    <section className={`column ${title.toLowerCase()}`} aria-label={title}>
      <h2>
        {title} <span className="count">{doors.length}</span>
      </h2>
      <ul className="doors">
        {doors.map((door) => (
          <li key={door.lockerId} data-locker={door.lockerId}>
            <a href={`#/locker/${door.lockerId}`}>
              {door.alias ?? door.lockerId} <small>{door.size}</small>
            </a>
            {door.activeReservation && (
              <small>
                {door.activeReservation.owner?.name ?? "Reserved"}
                {door.activeReservation.startedAt ? ", in" : ""} until {shortTime(door.activeReservation.endAt)}
              </small>
            )}
            {door.overdueSince && (
              <small className="alarm">
                {[stayers.get(door.lockerId), "overdue since"].filter(Boolean).join(", ")} {shortTime(door.overdueSince)}
              </small>
            )}
            {isLockedOut(door.lockout, now) && <small className="alarm">Locked out until {clock(door.lockout?.lockedUntil ?? "")}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function withDoors(before: BoardQuery, change: (doors: DoorFragment[]) => DoorFragment[], nextCursor?: string | null): BoardQuery {
  const { location } = before;
  if (!location?.lockers) return before;
  const lockers = { ...location.lockers, ...(nextCursor === undefined ? {} : { nextCursor }), nodes: change(location.lockers.nodes) };
  return { ...before, location: { ...location, lockers } };
}

/** The lockers after a change: one that is newer replaces what is shown, and one that left the location goes. */
function applied(doors: DoorFragment[], changed: DoorFragment & { locationId?: string | null }, locationId: string): DoorFragment[] {
  const { locationId: at, ...door } = changed;
  const place = doors.findIndex(({ lockerId }) => lockerId === door.lockerId);
  if (at !== locationId) return doors.filter((_, number) => number !== place);
  if (place < 0) return [...doors, door];
  const known = doors[place];
  return (known?.version ?? 0) > (door.version ?? 0) ? doors : doors.with(place, door);
}
