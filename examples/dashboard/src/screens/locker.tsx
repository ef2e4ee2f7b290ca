import { useEffect, useRef, useState } from "react";
import {
  ChangeStatusDocument,
  ClearLockoutDocument,
  type EntryFragment,
  LockerLiveDocument,
  LockerPageDocument,
  type LockerStateFragment,
  type LockerStatus,
  MoreActivityDocument,
} from "../api/documents";
import { message } from "../api/errors";
import { useApi, useLive, useScreen } from "../api/hooks";
import { day, type Group, groupOf, isLockedOut, NEXT_STATUSES, shortTime, span, statusName, time, value, words } from "../parts/format";
import { Listing, Notice, Status, useNow, Waiting } from "../parts/parts";

const TODAY = `${day(0)}T00:00:00Z`;

export function LockerScreen({ lockerId }: { lockerId: string }) {
  const { data, error, reload, change } = useScreen(LockerPageDocument, { lockerId, today: TODAY });
  const [newer, setNewer] = useState<EntryFragment[]>([]);
  const [round, setRound] = useState(0);
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
      // The lists beside the timeline have no versions: they are asked for again.
      if (groupOf(event.kind) !== "locker") reload();
    },
    () => {
      setRound((before) => before + 1);
      reload();
    },
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
          <Changes locker={locker} lockedUntil={locker.lockout?.lockedUntil ?? null} apply={apply} cleared={reload} />
          <div className="columns">
            <div>
              <Listing id="reservations" title="Reservations" empty="None from today on.">
                {(locker.reservations?.nodes ?? []).map((one) => (
                  <li key={one.reservationId}>
                    {span(one.startAt, one.endAt)} <small>{one.owner?.name}</small> <span className="tag">{words(one.status)}</span>
                  </li>
                ))}
              </Listing>
              <Listing id="codes" title="Access codes" empty="None.">
                {(locker.accessCodes?.nodes ?? []).map((one) => (
                  <li key={one.codeId}>
                    {words(one.kind)} <small>used {one.uses === 1 ? "once" : `${one.uses} times`}</small>
                    {one.validity?.validUntil && <small> until {shortTime(one.validity.validUntil)}</small>}{" "}
                    <span className="tag">{words(one.validity?.state ?? "")}</span>
                  </li>
                ))}
              </Listing>
            </div>
            <Timeline key={round} lockerId={lockerId} first={locker.activity?.nodes ?? []} next={locker.activity?.nextCursor ?? null} newer={newer} />
          </div>
        </>
      )}
    </main>
  );
}

type ChangesProps = { locker: LockerStateFragment; lockedUntil: string | null; apply: (state: LockerStateFragment) => void; cleared: () => void };

function Changes({ locker, lockedUntil, apply, cleared }: ChangesProps) {
  const { caller, client } = useApi();
  const now = useNow();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const { lockerId } = locker;
  const statuses = locker.status && caller.role !== "SUPPORT" ? NEXT_STATUSES[locker.status] : [];
  const doing = async (action: () => Promise<string | null>) => {
    setIsBusy(true);
    setProblem(null);
    setProblem(await action());
    setIsBusy(false);
  };
  const change = async (newStatus: LockerStatus) => {
    const input = { lockerId, newStatus, expectedVersion: locker.version ?? 0, changeId: crypto.randomUUID() };
    const { data, error } = await client.mutation(ChangeStatusDocument, { input }).toPromise();
    // An error beside the payload is of a field that is hidden from the caller: the status has changed.
    if (error && !data?.updateLockerStatus) return message(error);
    const [refused] = data?.updateLockerStatus.userErrors ?? [];
    // Where somebody else was faster, the answer has the locker as it is now.
    if (data?.updateLockerStatus.locker) apply(data.updateLockerStatus.locker);
    return refused?.code === "VERSION_CONFLICT" ? "Somebody else has changed this locker: look at it, and try again." : (refused?.message ?? null);
  };
  const clear = async () => {
    const { data, error } = await client.mutation(ClearLockoutDocument, { input: { lockerId } }).toPromise();
    cleared();
    return error && !data?.clearLockout ? message(error) : (data?.clearLockout.userErrors[0]?.message ?? null);
  };
  return (
    <section className="change" aria-label="Status">
      <p>
        <Status status={locker.status} /> <small>version {locker.version}</small>
        {locker.activeReservation && (
          <>
            {" "}
            · {locker.activeReservation.owner?.name ?? "Reserved"} until {time(locker.activeReservation.endAt)}
          </>
        )}
      </p>
      {locker.overdueSince && <p className="alarm">Overdue since {time(locker.overdueSince)}</p>}
      {isLockedOut({ lockedUntil }, now) && <p className="alarm">Locked out until {time(lockedUntil ?? "")}</p>}
      <div className="buttons">
        {statuses.map((status) => (
          <button key={status} type="button" disabled={isBusy} onClick={() => void doing(() => change(status))}>
            Set to {statusName(status).toLowerCase()}
          </button>
        ))}
        {isLockedOut({ lockedUntil }, now) && (
          <button type="button" disabled={isBusy} onClick={() => void doing(clear)}>
            Clear the lockout
          </button>
        )}
      </div>
      <Notice error={problem} />
    </section>
  );
}

const GROUPS: Record<Group | "", string> = { "": "Everything", door: "Door", reservation: "Reservations", code: "Codes", locker: "Locker" };

type TimelineProps = { lockerId: string; first: readonly EntryFragment[]; next: string | null; newer: readonly EntryFragment[] };

/** Everything that happened, access events among it, page after page as the end of the list comes into view. */
function Timeline({ lockerId, first, next, newer }: TimelineProps) {
  const { client } = useApi();
  const [older, setOlder] = useState<EntryFragment[]>([]);
  const [cursor, setCursor] = useState(next);
  const [group, setGroup] = useState<Group | "">("");
  const [isLoading, setIsLoading] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (cursor === null || isLoading || problem !== null || end.current === null) return;
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      setIsLoading(true);
      void client
        .query(MoreActivityDocument, { lockerId, after: cursor })
        .toPromise()
        .then(({ data, error }) => {
          const page = data?.locker?.activity;
          setOlder((before) => [...before, ...(page?.nodes ?? [])]);
          if (page) setCursor(page.nextCursor ?? null);
          setProblem(error ? message(error) : null);
          setIsLoading(false);
        });
    });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [client, lockerId, cursor, isLoading, problem]);
  const shown = new Map([...newer, ...first, ...older].map((entry) => [entry.activityId, entry]));
  const entries = [...shown.values()]
    .filter(({ kind }) => group === "" || groupOf(kind) === group)
    .sort((one, other) => other.occurredAt.localeCompare(one.occurredAt));
  return (
    <section aria-labelledby="timeline" className="card">
      <h2 id="timeline">Timeline</h2>
      <div className="buttons" role="group" aria-label="Show">
        {Object.entries(GROUPS).map(([name, text]) => (
          <button key={name} type="button" aria-pressed={group === name} onClick={() => setGroup(name as Group | "")}>
            {text}
          </button>
        ))}
      </div>
      <ol className="timeline">
        {entries.map((entry) => (
          <li key={entry.activityId} className={groupOf(entry.kind)}>
            <time dateTime={entry.occurredAt}>{shortTime(entry.occurredAt)}</time> {words(entry.kind)}
            {entry.outcome && <small> {words(entry.outcome)}</small>}
            {entry.changes.map(({ field, from, to }) => (
              <small key={field}>
                {" "}
                {field}
                {(from ?? to) && `: ${value(from)} → ${value(to)}`}
              </small>
            ))}
            {entry.actor && <small> by {entry.actor.subject ?? entry.actor.role.toLowerCase()}</small>}
          </li>
        ))}
      </ol>
      <Notice error={problem} />
      {problem !== null && (
        <button type="button" onClick={() => setProblem(null)}>
          Try again
        </button>
      )}
      <div ref={end} role="status">
        {isLoading ? "Loading more …" : cursor === null && entries.length > 0 ? "That is all." : ""}
      </div>
    </section>
  );
}
