import { UsageDocument, UsageLiveDocument } from "../api/documents";
import { useLive, useScreen } from "../api/hooks";
import { BarChart } from "../parts/chart";
import { day } from "../parts/format";
import { Notice, Waiting } from "../parts/parts";

const DAYS = 14;
const FIGURES = {
  reservations: "Reservations",
  checkIns: "Check-ins",
  opens: "Doors opened",
  denials: "Access denied",
  noShows: "No-shows",
} as const;

export function Usage({ locationId }: { locationId: string }) {
  const { data, error, reload } = useScreen(UsageDocument, { locationId, from: day(1 - DAYS), to: day(0) });
  useLive(UsageLiveDocument, { locationId }, reload, reload);
  const days = data?.location?.usage ?? [];
  return (
    <main>
      <h1>Usage of {data?.location?.name ?? "the location"}</h1>
      <p>
        <a href={`#/location/${locationId}`}>Board</a> · the last {DAYS} days
      </p>
      <Notice error={error} />
      {data === null && error === null && <Waiting what="usage" />}
      <div className="charts">
        {days.length > 0 &&
          Object.entries(FIGURES).map(([figure, title]) => (
            <BarChart key={figure} title={title} bars={days.map((one) => ({ label: one.date, value: one[figure as keyof typeof FIGURES] }))} />
          ))}
      </div>
    </main>
  );
}
