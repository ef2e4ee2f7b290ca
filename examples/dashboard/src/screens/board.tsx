import { useState } from "react";
import { BoardDocument, BoardLiveDocument, type DoorFragment } from "../api/documents";
import { useLive, useScreen } from "../api/hooks";
import { clock, kindName, STATUSES, statusName, time } from "../parts/format";
import { AsOf, Figure, Notice, Status, Waiting } from "../parts/parts";

type News = { id: string; at: string; text: string };

export function Board({ locationId }: { locationId: string }) {
  const { data, error, reload, change } = useScreen(BoardDocument, { locationId });
  const [news, setNews] = useState<News[]>([]);
  useLive(
    BoardLiveDocument,
    { locationId },
    (event) => {
      const name = event.locker?.alias ?? event.lockerId;
      const who = event.actor?.subject ?? event.actor?.role.toLowerCase();
      const text = [clock(event.occurredAt), kindName(event.kind), name, who && `by ${who}`].filter(Boolean).join(" · ");
      // After a lost connection, some events from before come late.
      const added = { id: event.activityId, at: event.occurredAt, text };
      setNews((before) => [added, ...before].sort((one, other) => other.at.localeCompare(one.at)).slice(0, 20));
      const changed = event.locker;
      if (!changed) return;
      change((before) =>
        before.location?.lockers
          ? { ...before, location: { ...before.location, lockers: { ...before.location.lockers, nodes: applied(before.location.lockers.nodes, changed, locationId) } } }
          : before,
      );
    },
    reload,
  );
  const place = data?.location;
  const lockers = place?.lockers?.nodes ?? [];
  return (
    <main>
      <h1>{place?.name ?? "Location"}</h1>
      <Notice error={error} />
      {data === null && error === null && <Waiting what="lockers" />}
      {place && (
        <>
          <p>
            {place.address.city}, {place.address.country} · {place.timeZone} · <a href={`#/usage/${locationId}`}>Usage</a>
          </p>
          <dl className="figures">
            {STATUSES.map((status) => (
              <Figure key={status} label={statusName(status)} value={lockers.filter((one) => one.status === status).length} />
            ))}
            <Figure label="Overdue" value={place.figures?.overdue ?? "–"} alarms={(place.figures?.overdue ?? 0) > 0} />
          </dl>
          <p>
            <AsOf at={place.figures?.asOf} />
          </p>
          <ul className="doors" aria-label="Lockers">
            {lockers.map((locker) => (
              <li key={locker.lockerId} className={(locker.status ?? "hidden").toLowerCase()}>
                <a href={`#/locker/${locker.lockerId}`}>
                  {locker.alias ?? locker.lockerId} <small>{locker.size}</small>
                </a>
                <Status status={locker.status} />
                {locker.activeReservation && (
                  <small className={isOver(locker) ? "alarm" : ""}>
                    {locker.activeReservation.owner?.name ?? "Reserved"} until {time(locker.activeReservation.endAt)}
                  </small>
                )}
                {locker.lockout?.lockedUntil && <small className="alarm">Locked out until {clock(locker.lockout.lockedUntil)}</small>}
              </li>
            ))}
          </ul>
          <section aria-labelledby="news">
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

const isOver = ({ activeReservation }: DoorFragment): boolean =>
  activeReservation != null && Date.parse(activeReservation.endAt) < Date.now();

/** The lockers after a change: one that is newer replaces what is shown, and one that left the location goes. */
function applied(lockers: DoorFragment[], changed: DoorFragment & { locationId?: string | null }, locationId: string): DoorFragment[] {
  const { locationId: at, ...locker } = changed;
  const place = lockers.findIndex(({ lockerId }) => lockerId === locker.lockerId);
  if (at !== locationId) return lockers.filter((_, number) => number !== place);
  if (place < 0) return [...lockers, locker];
  const known = lockers[place];
  return (known?.version ?? 0) > (locker.version ?? 0) ? lockers : lockers.with(place, locker);
}
