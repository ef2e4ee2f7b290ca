// The client of one signed-in caller: queries by HTTP, subscriptions over one WebSocket that resumes where it was.
import { createClient as createSocket } from "graphql-ws";
import { Client, fetchExchange, subscriptionExchange } from "urql";
import { ViewerDocument, type ViewerQuery } from "./documents";
import { message } from "./errors";

export type Credentials = { name: string; token: string };
export type Caller = Credentials & ViewerQuery["viewer"];
/** `idle`: no subscription needs it. */
export type Connection = "connecting" | "live" | "lost" | "idle";

export type Api = {
  caller: Caller;
  client: Client;
  connection: { get: () => Connection; watch: (changed: () => void) => () => void };
  close: () => void;
};

type Followed = Record<string, { cursor?: string } | null>;

export function openApi(caller: Caller, forbidden: () => void): Api {
  const authorization = `Bearer ${caller.token}`;
  let state: Connection = "connecting";
  const watchers = new Set<() => void>();
  const enter = (next: Connection) => {
    state = next;
    watchers.forEach((changed) => changed());
  };
  const address = new URL("/graphql", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = createSocket({
    url: address.href,
    connectionParams: { authorization },
    retryAttempts: Infinity,
    // A server that is down refuses without a close event, which the library would take for final.
    shouldRetry: () => true,
    // As soon as it seems possible, then every few seconds: a dashboard stays open for days.
    retryWait: (retries) => new Promise((done) => setTimeout(done, Math.min(5000, 250 * 2 ** retries) * Math.random())),
    keepAlive: 20_000,
    // From one screen to the next, the connection stays.
    lazyCloseTimeout: 3000,
    on: {
      connecting: () => enter(state === "live" ? "lost" : state),
      connected: () => enter("live"),
      closed: (event) => {
        const { code } = event as CloseEvent;
        enter(code === 1000 ? "idle" : "lost");
        if (code === 4403) forbidden();
      },
    },
  });
  const client = new Client({
    url: "/graphql",
    preferGetMethod: false,
    fetchOptions: { headers: { authorization } },
    exchanges: [
      subscriptionExchange({
        forwardSubscription: (request) => ({
          subscribe: (sink) => {
            // The socket sends the same object again when it has reconnected: so it goes on after the last event.
            const asked = { query: request.query ?? "", variables: { ...request.variables } as Record<string, unknown> };
            const unsubscribe = socket.subscribe(asked, {
              ...sink,
              next: (result) => {
                for (const event of Object.values((result.data ?? {}) as Followed)) {
                  if (event?.cursor) asked.variables.after = event.cursor;
                }
                sink.next(result as never);
              },
            });
            return { unsubscribe };
          },
        }),
      }),
      fetchExchange,
    ],
  });
  return {
    caller,
    client,
    connection: {
      get: () => state,
      watch: (changed) => {
        watchers.add(changed);
        return () => watchers.delete(changed);
      },
    },
    close: () => void socket.dispose(),
  };
}

/** Who credentials are of, or why they cannot be used. */
export async function identify(credentials: Credentials): Promise<Caller | string> {
  const headers = { authorization: `Bearer ${credentials.token}` };
  const client = new Client({ url: "/graphql", preferGetMethod: false, fetchOptions: { headers }, exchanges: [fetchExchange] });
  const { data, error } = await client.query(ViewerDocument, {}).toPromise();
  if (data) return { ...credentials, ...data.viewer };
  const isRefused = error?.graphQLErrors.some(({ extensions }) => extensions["code"] === "UNAUTHENTICATED");
  return isRefused || !error ? "These credentials are not valid." : message(error);
}

/** The demo callers that a development server offers; none in production. */
export async function demoCallers(): Promise<Credentials[]> {
  const response = await fetch("/graphql/tokens").catch(() => null);
  return response?.ok ? ((await response.json()) as Credentials[]) : [];
}
