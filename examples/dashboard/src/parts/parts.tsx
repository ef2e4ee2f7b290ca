import { type ReactNode, useEffect, useState } from "react";
import type { LockerStatus } from "../api/documents";
import { useConnection } from "../api/hooks";
import { age, statusName } from "./format";

export function Status({ status }: { status: LockerStatus | null | undefined }) {
  return <span className={`status ${(status ?? "hidden").toLowerCase()}`}>{statusName(status)}</span>;
}

export function Notice({ error }: { error: string | null }) {
  return error === null ? null : (
    <p className="notice" role="alert">
      {error}
    </p>
  );
}

export function Waiting({ what }: { what: string }) {
  return (
    <p className="waiting" role="status">
      Loading {what} …
    </p>
  );
}

const CONNECTIONS = { connecting: "Connecting", live: "Live", lost: "Connection lost, trying again", idle: "" };

export function LiveMark() {
  const connection = useConnection();
  return (
    <span className={`live ${connection}`} role="status">
      {CONNECTIONS[connection]}
    </span>
  );
}

/** The time, every ten seconds: for ages, and for what ends while somebody looks at it. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export function AsOf({ at }: { at: string | null | undefined }) {
  const now = useNow();
  return at ? <small>counted {age(at, now)}</small> : <small>not counted yet</small>;
}

export function Figure({ label, value, alarms = false }: { label: string; value: ReactNode; alarms?: boolean }) {
  return (
    <div className={alarms ? "figure alarm" : "figure"}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** A list with a heading, and a text where it is empty. */
export function Listing({ id, title, empty, children }: { id: string; title: string; empty: string; children: readonly ReactNode[] }) {
  return (
    <section aria-labelledby={id} className="card">
      <h2 id={id}>{title}</h2>
      {children.length > 0 ? <ul>{children}</ul> : <p className="waiting">{empty}</p>}
    </section>
  );
}
