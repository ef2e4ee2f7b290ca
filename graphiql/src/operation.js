const OPERATION = /\b(?:query|mutation|subscription)\s+([_A-Za-z]\w*)/g;

/**
 * A fetcher that names only operations of the text that it sends. GraphiQL takes note of what is in an editor a moment
 * after the last key or change of tab, and until then would name an operation of the text before.
 */
export function namingItsOwn(fetcher) {
  return (request, options) => {
    const { operationName, ...unnamed } = request;
    const names = Array.from(request.query.matchAll(OPERATION), ([, name]) => name);
    return fetcher(names.includes(operationName) ? request : unnamed, options);
  };
}
