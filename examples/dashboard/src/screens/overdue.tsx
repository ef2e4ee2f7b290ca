import { useState } from "react";
import { OverdueDocument, OverdueLiveDocument, type OverdueQuery } from "../api/documents";
import { message } from "../api/errors";
import { useApi, useLive, useScreen } from "../api/hooks";
import { duration, time } from "../parts/format";
import { Notice, useNow, Waiting } from "../parts/parts";
import { Table } from "../parts/table";

type Stay = NonNullable<OverdueQuery["overdueReservations"]>["nodes"][number];

export function Overdue() {
  const { client } = useApi();
  const now = useNow();
  const { data, error, reload } = useScreen(OverdueDocument, {});
  const [later, setLater] = useState<{ stays: Stay[]; next: string | null } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const stays = [...(data?.overdueReservations?.nodes ?? []), ...(later?.stays ?? [])];
  const next = later === null ? data?.overdueReservations?.nextCursor : later.next;
  const again = () => {
    setLater(null);
    reload();
  };
  useLive(
    OverdueLiveDocument,
    {},
    ({ kind, lockerId }) => {
      if (kind === "RESERVATION_OVERDUE" || stays.some((stay) => stay.lockerId === lockerId)) again();
    },
    again,
  );
  const more = async (after: string) => {
    const page = await client.query(OverdueDocument, { after }).toPromise();
    setProblem(page.error ? message(page.error) : null);
    const found = page.data?.overdueReservations;
    if (found) setLater((before) => ({ stays: [...(before?.stays ?? []), ...found.nodes], next: found.nextCursor ?? null }));
  };
  return (
    <main>
      <h1>Overdue</h1>
      <p>Reservations that are over and still occupy their lockers, the longest first.</p>
      <Notice error={error ?? problem} />
      {data === null && error === null && <Waiting what="what is overdue" />}
      {data?.overdueReservations && stays.length === 0 && <p className="waiting">Nothing is overdue.</p>}
      {stays.length > 0 && (
        <Table<Stay>
          label="Overdue reservations"
          first={{ title: "Locker", cell: ({ lockerId, locker }) => <a href={`#/locker/${lockerId}`}>{locker?.alias ?? lockerId}</a> }}
          columns={[
            {
              title: "Location",
              cell: ({ locker }) => locker?.location && <a href={`#/location/${locker.location.locationId}`}>{locker.location.name}</a>,
            },
            { title: "Reserved by", cell: ({ owner }) => owner?.name },
            { title: "Ended", cell: ({ overdueSince }) => time(overdueSince) },
            { title: "Overdue for", cell: ({ overdueSince }) => duration(overdueSince, now), isNumber: true, alarms: () => true },
          ]}
          rows={stays}
          keyOf={({ lockerId }) => lockerId}
        />
      )}
      {next && (
        <button type="button" onClick={() => void more(next)}>
          More
        </button>
      )}
    </main>
  );
}
