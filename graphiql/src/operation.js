import { Kind, parse } from 'graphql';

/** The name of GraphiQL's own request for the schema. */
export const INTROSPECTION = 'IntrospectionQuery';

/** The operations of a document; none if it has errors. */
function operations(query) {
  try {
    return parse(query).definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  } catch {
    return [];
  }
}

/** The names of the operations in a document; none if it has errors. */
export function operationNames(query) {
  return operations(query).flatMap(({ name }) => name?.value ?? []);
}

/** Whether a request is a subscription. */
export function isSubscription({ query, operationName }) {
  const chosen = operations(query).find(({ name }) => !operationName || name?.value === operationName);
  return chosen?.operation === 'subscription';
}

/**
 * The name of the operation to run: the chosen one, or the first. GraphiQL updates its choice shortly after the last key press
 * or change of tab; until then it is a name from the previous text.
 */
export function chosenOperation(query, choice) {
  const names = operationNames(query);
  return names.includes(choice) ? choice : names[0];
}

/** A fetcher that never sends a name that is not in the document, and names one operation of several. */
export function withMatchingOperationName(fetcher) {
  return ({ operationName, ...request }, options) =>
    fetcher({ ...request, operationName: chosenOperation(request.query, operationName) }, options);
}
