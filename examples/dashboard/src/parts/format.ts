import type { ActivityKind, LockerStatus } from "../api/documents";

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const SHORT = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
const DATED = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const time = (text: string): string => TIME.format(new Date(text));
/** The year is shown where it is another than this. */
const short = (date: Date) => (date.getFullYear() === new Date().getFullYear() ? SHORT : DATED);
export const shortTime = (text: string): string => short(new Date(text)).format(new Date(text));
export const clock = (text: string): string => CLOCK.format(new Date(text));
export const span = (start: string, end: string): string => short(new Date(end)).formatRange(new Date(start), new Date(end));

export function age(text: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(text)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  return time(text);
}

/** A value of a change: a time in words, anything else as it is. */
export const value = (text: string | null | undefined): string => (/^\d{4}-.+T.+Z$/.test(text ?? "") ? shortTime(text ?? "") : (text ?? "–"));

/** For how long something lasts, in its largest unit. */
export function duration(from: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(from)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`;
}

export const STATUSES: readonly LockerStatus[] = ["AVAILABLE", "OCCUPIED", "MAINTENANCE"];
/** The statuses that a locker can be set to. */
export const NEXT_STATUSES: Record<LockerStatus, readonly LockerStatus[]> = {
  AVAILABLE: ["OCCUPIED", "MAINTENANCE"],
  OCCUPIED: ["AVAILABLE", "MAINTENANCE"],
  MAINTENANCE: ["AVAILABLE"],
  RETIRED: [],
};
const STATUS_NAMES: Record<LockerStatus, string> = {
  AVAILABLE: "Available",
  OCCUPIED: "Occupied",
  MAINTENANCE: "Maintenance",
  RETIRED: "Retired",
};
export const statusName = (status: LockerStatus | null | undefined): string => (status ? STATUS_NAMES[status] : "Hidden");

/** `LOCKER_STATUS_CHANGED` as "Locker status changed". */
export function words(name: string): string {
  const text = name.toLowerCase().replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What an activity is about: the first word of its kind, where that is one of the groups of a timeline. */
export type Group = "door" | "reservation" | "code" | "locker";
export function groupOf(kind: ActivityKind): Group {
  if (kind.startsWith("DOOR_") || kind === "ACCESS_CODE_USED" || kind === "ACCESS_CODE_DENIED") return "door";
  if (kind.startsWith("RESERVATION_")) return "reservation";
  return kind.startsWith("ACCESS_CODE_") ? "code" : "locker";
}

export const isLockedOut = (lockout: { lockedUntil?: string | null } | null | undefined, now: number): boolean =>
  Date.parse(lockout?.lockedUntil ?? "") > now;

/** A day as `2026-11-18`, so many days from today in UTC. */
export function day(fromToday: number): string {
  return new Date(Date.now() + fromToday * 86_400_000).toISOString().slice(0, 10);
}
