import { tryParseJSONC } from '@graphiql/react';

/**
 * The request that the editors hold: `{ query, variables, operationName, headers }`.
 * Throws an Error for people to read where variables or headers are not JSON.
 */
export function requestOf({ queryEditor, variableEditor, headerEditor, operationName }) {
  return {
    query: queryEditor.getValue(),
    variables: parsed('Variables', variableEditor),
    operationName,
    headers: parsed('Headers', headerEditor),
  };
}

function parsed(name, editor) {
  try {
    return tryParseJSONC(editor?.getValue());
  } catch (error) {
    throw new Error(`${name} ${error.message}`);
  }
}
