/** The name of GraphiQL's own request for the schema. */
export const INTROSPECTION = 'IntrospectionQuery';

const OPERATION = /\b(?:query|mutation|subscription)\s+([_A-Za-z]\w*)/g;

/** The names of the operations in a document. */
export function operationNames(query) {
  return Array.from(query.matchAll(OPERATION), ([, name]) => name);
}

/**
 * A fetcher that drops an operation name that is not in the document. GraphiQL updates the name shortly after the last
 * key press or change of tab; until then it would send the name from the previous text.
 */
export function withMatchingOperationName(fetcher) {
  return (request, options) => {
    const { operationName, ...unnamed } = request;
    return fetcher(operationNames(request.query).includes(operationName) ? request : unnamed, options);
  };
}
