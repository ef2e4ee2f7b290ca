// A screen asks, subscribes to what happened since a minute before, and applies what is newer: so it misses nothing.
import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { AnyVariables, TypedDocumentNode } from "urql";
import type { Api, Connection } from "./client";
import { failure } from "./errors";

export const ApiContext = createContext<Api | null>(null);

export function useApi(): Api {
  const api = useContext(ApiContext);
  if (api === null) throw new Error("nobody is signed in");
  return api;
}

export function useConnection(): Connection {
  const { connection } = useApi();
  return useSyncExternalStore(connection.watch, connection.get);
}

export type Loaded<T> = { data: T | null; error: string | null };

type Activity = { activityId: string; cursor: string };

/** Figures are up to a minute old, and an answer may be older than a moment. */
const BEFORE_MS = 60_000;

/** Asks for a screen's data, and again by `reload`. */
export function useScreen<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Loaded<Data> & { reload: () => void; change: (apply: (data: Data) => Data) => void } {
  const { client } = useApi();
  const [loaded, setLoaded] = useState<Loaded<Data>>({ data: null, error: null });
  const [round, setRound] = useState(0);
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null);
  const asked = JSON.stringify(variables);
  useEffect(() => {
    let isCurrent = true;
    void client
      .query(document, JSON.parse(asked) as Variables)
      .toPromise()
      .then(({ data, error }) => {
        if (!isCurrent) return;
        setLoaded((before) => ({ data: data ?? before.data, error: failure(error) }));
      });
    return () => {
      isCurrent = false;
    };
  }, [client, document, asked, round]);
  return {
    ...loaded,
    reload: () => {
      // Several events at once ask for one answer.
      waiting.current ??= setTimeout(() => {
        waiting.current = null;
        setRound((number) => number + 1);
      }, 200);
    },
    change: (apply) => setLoaded(({ data, error }) => ({ data: data === null ? null : apply(data), error })),
  };
}

/** Calls `happened` with each event of a subscription, once; `lost` where events were left out and must be asked for. */
export function useLive<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  happened: (event: NonNullable<Data[keyof Data]>) => void,
  lost: () => void,
): void {
  const { client } = useApi();
  const calls = useRef({ happened, lost });
  calls.current = { happened, lost };
  const asked = JSON.stringify(variables);
  useEffect(() => {
    const seen = new Set<string>();
    const after = new Date(Date.now() - BEFORE_MS).toISOString();
    const { unsubscribe } = client.subscription(document, { ...(JSON.parse(asked) as Variables), after }).subscribe(({ data, error }) => {
      if (error?.graphQLErrors.some(({ extensions }) => extensions["code"] === "RESYNC_REQUIRED")) calls.current.lost();
      const event = Object.values(data ?? {})[0] as (NonNullable<Data[keyof Data]> & Activity) | null | undefined;
      if (!event || seen.has(event.activityId)) return;
      seen.add(event.activityId);
      if (seen.size > 2000) seen.delete(seen.values().next().value as string);
      calls.current.happened(event);
    });
    return unsubscribe;
  }, [client, document, asked]);
}
