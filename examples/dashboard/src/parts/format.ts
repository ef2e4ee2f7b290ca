import type { ActivityKind, LockerStatus } from "../api/documents";

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const time = (text: string): string => TIME.format(new Date(text));
export const clock = (text: string): string => CLOCK.format(new Date(text));

export function age(text: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(text)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  return time(text);
}

export const STATUSES: readonly LockerStatus[] = ["AVAILABLE", "OCCUPIED", "MAINTENANCE"];
const STATUS_NAMES: Record<LockerStatus, string> = {
  AVAILABLE: "Available",
  OCCUPIED: "Occupied",
  MAINTENANCE: "Maintenance",
  RETIRED: "Retired",
};
export const statusName = (status: LockerStatus | null | undefined): string => (status ? STATUS_NAMES[status] : "Hidden");

/** `LOCKER_STATUS_CHANGED` as "Locker status changed". */
export function kindName(kind: ActivityKind): string {
  const words = kind.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A day as `2026-11-18`, so many days from today in UTC. */
export function day(fromToday: number): string {
  return new Date(Date.now() + fromToday * 86_400_000).toISOString().slice(0, 10);
}
