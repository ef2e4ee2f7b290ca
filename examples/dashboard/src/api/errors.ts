import type { CombinedError } from "urql";

export function message(error: CombinedError): string {
  if (error.networkError !== undefined) return "The server cannot be reached.";
  return error.graphQLErrors[0]?.message ?? error.message;
}

/** What to tell of the error of a screen: nothing where only fields of what it shows are hidden from the caller. */
export function failure(error: CombinedError | undefined): string | null {
  const isHidden = error?.graphQLErrors.every(({ path, extensions }) => (path?.length ?? 0) > 1 && extensions["code"] === "FORBIDDEN");
  return error === undefined || (isHidden && error.networkError === undefined) ? null : message(error);
}
