import { OwnerLiveDocument, OwnerPageDocument, type OwnerPageQuery } from "../api/documents";
import { useLive, useScreen } from "../api/hooks";
import { day, shortTime, span, words } from "../parts/format";
import { AsOf, Figure, Listing, Notice, Status, Waiting } from "../parts/parts";
import { type Column, Table } from "../parts/table";

type Owned = NonNullable<NonNullable<OwnerPageQuery["owner"]>["lockers"]>["nodes"][number];

const LOCKER: Column<Owned> = {
  title: "Locker",
  cell: ({ lockerId, alias, size }) => (
    <>
      <a href={`#/locker/${lockerId}`}>{alias ?? lockerId}</a> <small>{size}</small>
    </>
  ),
};
const COLUMNS: readonly Column<Owned>[] = [
  { title: "Status", cell: ({ status }) => <Status status={status} /> },
  { title: "Location", cell: ({ location }) => location?.name ?? "–" },
  { title: "Overdue since", cell: ({ overdueSince }) => (overdueSince ? shortTime(overdueSince) : "–"), alarms: ({ overdueSince }) => !!overdueSince },
];

export function OwnerScreen({ ownerId }: { ownerId: string }) {
  const { data, error, reload } = useScreen(OwnerPageDocument, { ownerId, today: `${day(0)}T00:00:00Z` });
  useLive(OwnerLiveDocument, { ownerId }, reload, reload);
  const owner = data?.owner;
  const lockers = owner?.lockers?.nodes ?? [];
  return (
    <main>
      <h1>{owner?.name ?? ownerId}</h1>
      <Notice error={error} />
      {data === null && error === null && <Waiting what="the owner" />}
      {owner && (
        <>
          <p>{[ownerId, words(owner.kind ?? ""), owner.email, owner.phone].filter(Boolean).join(" · ")}</p>
          <dl className="figures">
            <Figure label="Lockers" value={owner.lockers?.nextCursor ? `${lockers.length}+` : lockers.length} />
            <Figure label="Reservations" value={owner.figures?.liveReservations ?? "–"} />
            <Figure label="Overdue" value={owner.figures?.overdue ?? "–"} alarms={(owner.figures?.overdue ?? 0) > 0} />
          </dl>
          <p>
            <AsOf at={owner.figures?.asOf} />
          </p>
          {lockers.length > 0 && <Table label="Lockers" first={LOCKER} columns={COLUMNS} rows={lockers} keyOf={({ lockerId }) => lockerId} />}
          <Listing id="reservations" title="Reservations" empty="None from today on.">
            {(owner.reservations?.nodes ?? []).map((one) => (
              <li key={one.reservationId}>
                <a href={`#/locker/${one.lockerId}`}>{span(one.startAt, one.endAt)}</a> <small>{one.reference}</small>{" "}
                <span className="tag">{words(one.status)}</span>
              </li>
            ))}
          </Listing>
        </>
      )}
    </main>
  );
}
