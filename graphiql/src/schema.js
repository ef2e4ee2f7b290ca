import { INTROSPECTION } from './operation.js';

/** A fetcher that sorts the types and fields of GraphiQL's schema by name; the documentation shows them in this order. */
export function withSortedSchema(fetcher) {
  return async (request, options) => {
    const response = await fetcher(request, options);
    const schema = response.data?.__schema;
    if (request.operationName !== INTROSPECTION || !schema) {
      return response;
    }
    return { ...response, data: { __schema: { ...schema, types: sortedTypes(schema.types) } } };
  };
}

function sortedTypes(types) {
  return byName(types).map(type => ({
    ...type,
    fields: type.fields && byName(type.fields),
    inputFields: type.inputFields && byName(type.inputFields),
  }));
}

function byName(entries) {
  return entries.toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
}
