import type { ReactNode } from "react";
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

const CONNECTIONS = { connecting: "Connecting", live: "Live", lost: "Connection lost, trying again" };

export function LiveMark() {
  const connection = useConnection();
  return (
    <span className={`live ${connection}`} role="status">
      {CONNECTIONS[connection]}
    </span>
  );
}

export function AsOf({ at }: { at: string | null | undefined }) {
  return at ? <small>counted {age(at)}</small> : <small>not counted yet</small>;
}

export function Figure({ label, value, alarms = false }: { label: string; value: ReactNode; alarms?: boolean }) {
  return (
    <div className={alarms ? "figure alarm" : "figure"}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
