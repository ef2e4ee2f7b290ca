import { useEffect, useRef, useState } from "react";
import {
  ChangeStatusDocument,
  type EntryFragment,
  LockerLiveDocument,
  LockerPageDocument,
  type LockerStateFragment,
  type LockerStatus,
  MoreActivityDocument,
} from "../api/documents";
import { message, useApi, useLive, useScreen } from "../api/hooks";
import { day, kindName, STATUSES, statusName, time } from "../parts/format";
import { Notice, Status, Waiting } from "../parts/parts";

const TODAY = `${day(0)}T00:00:00Z`;

export function LockerScreen({ lockerId }: { lockerId: string }) {
  const { data, error, reload, change } = useScreen(LockerPageDocument, { lockerId, today: TODAY });
  const [newer, setNewer] = useState<EntryFragment[]>([]);
  const apply = (state: LockerStateFragment) =>
    change((before) =>
      before.locker && (before.locker.version ?? 0) <= (state.version ?? 0) ? { ...before, locker: { ...before.locker, ...state } } : before,
    );
  useLive(
    LockerLiveDocument,
    { lockerId },
    (event) => {
      setNewer((before) => [event, ...before]);
      if (event.locker) apply(event.locker);
    },
    reload,
  );
  const locker = data?.locker;
  return (
    <main>
      <h1>{locker?.alias ?? lockerId}</h1>
      <Notice error={error} />
      {data === null && error === null && <Waiting what="the locker" />}
      {locker && (
        <>
          <p>
            {lockerId} · size {locker.size}
            {locker.location && (
              <>
                {" · "}
                <a href={`#/location/${locker.locationId}`}>{locker.location.name}</a>
              </>
            )}
            {locker.owner && ` · ${locker.owner.name}`}
          </p>
          {locker.lockout?.lockedUntil && <p className="alarm">Locked out until {time(locker.lockout.lockedUntil)}</p>}
          <ChangeStatus locker={locker} apply={apply} />
          <div className="columns">
            <section aria-labelledby="reservations">
              <h2 id="reservations">Reservations</h2>
              <ul>
                {locker.reservations?.nodes.map((one) => (
                  <li key={one.reservationId}>
                    {time(one.startAt)} – {time(one.endAt)} <small>{one.owner?.name}</small> <span className="tag">{one.status.toLowerCase()}</span>
                  </li>
                ))}
              </ul>
              {locker.reservations?.nodes.length === 0 && <p className="waiting">None from today on.</p>}
              <h2>Access codes</h2>
              <ul>
                {locker.accessCodes?.nodes.map((one) => (
                  <li key={one.codeId}>
                    {kindName(one.kind as never)} <small>used {one.uses} times</small> <span className="tag">{one.validity?.state.toLowerCase() ?? ""}</span>
                  </li>
                ))}
              </ul>
              {locker.accessCodes?.nodes.length === 0 && <p className="waiting">None.</p>}
            </section>
            <Timeline lockerId={lockerId} first={locker.activity?.nodes ?? []} next={locker.activity?.nextCursor ?? null} newer={newer} />
          </div>
        </>
      )}
    </main>
  );
}

function ChangeStatus({ locker, apply }: { locker: LockerStateFragment; apply: (state: LockerStateFragment) => void }) {
  const { client } = useApi();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const change = async (newStatus: LockerStatus) => {
    setIsBusy(true);
    setProblem(null);
    const input = { lockerId: locker.lockerId, newStatus, expectedVersion: locker.version ?? 0, changeId: crypto.randomUUID() };
    const { data, error } = await client.mutation(ChangeStatusDocument, { input }).toPromise();
    const [refused] = data?.updateLockerStatus.userErrors ?? [];
    // Where somebody else was faster, the answer has the locker as it is now.
    if (data?.updateLockerStatus.locker) apply(data.updateLockerStatus.locker);
    if (error) setProblem(message(error));
    else if (refused?.code === "VERSION_CONFLICT") setProblem("Somebody else has changed this locker: look at it, and try again.");
    else if (refused) setProblem(refused.message);
    setIsBusy(false);
  };
  return (
    <section className="change" aria-label="Status">
      <p>
        <Status status={locker.status} /> <small>version {locker.version}</small>
      </p>
      <div className="buttons">
        {STATUSES.filter((status) => status !== locker.status).map((status) => (
          <button key={status} type="button" disabled={isBusy} onClick={() => void change(status)}>
            Set to {statusName(status).toLowerCase()}
          </button>
        ))}
      </div>
      <Notice error={problem} />
    </section>
  );
}

type TimelineProps = { lockerId: string; first: readonly EntryFragment[]; next: string | null; newer: readonly EntryFragment[] };

function Timeline({ lockerId, first, next, newer }: TimelineProps) {
  const { client } = useApi();
  const [older, setOlder] = useState<EntryFragment[]>([]);
  const [cursor, setCursor] = useState(next);
  const [isLoading, setIsLoading] = useState(false);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    setOlder([]);
    setCursor(next);
  }, [next]);
  useEffect(() => {
    if (cursor === null || isLoading || end.current === null) return;
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      setIsLoading(true);
      void client
        .query(MoreActivityDocument, { lockerId, after: cursor })
        .toPromise()
        .then(({ data }) => {
          const page = data?.locker?.activity;
          setOlder((before) => [...before, ...(page?.nodes ?? [])]);
          setCursor(page?.nextCursor ?? null);
          setIsLoading(false);
        });
    });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [client, lockerId, cursor, isLoading]);
  const shown = new Map([...newer, ...first, ...older].map((entry) => [entry.activityId, entry]));
  const entries = [...shown.values()].sort((one, other) => other.occurredAt.localeCompare(one.occurredAt));
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol className="timeline">
        {entries.map((entry) => (
          <li key={entry.activityId}>
            <time dateTime={entry.occurredAt}>{time(entry.occurredAt)}</time> {kindName(entry.kind)}
            {entry.changes.map(({ field, from, to }) => (
              <small key={field}>
                {" "}
                {field}
                {(from ?? to) && `: ${from ?? "–"} → ${to ?? "–"}`}
              </small>
            ))}
            {entry.actor && <small> by {entry.actor.subject ?? entry.actor.role.toLowerCase()}</small>}
          </li>
        ))}
      </ol>
      <div ref={end} role="status">
        {isLoading ? "Loading more …" : cursor === null && entries.length > 0 ? "That is all." : ""}
      </div>
    </section>
  );
}
