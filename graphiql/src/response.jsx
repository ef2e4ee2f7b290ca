import { formatShortcutForOS, KEY_MAP, pick, useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

const HINT = `Run the operation with the button ▶ or ${formatShortcutForOS(KEY_MAP.runQuery.key)} to see its response here.`;

/** Says in the empty response pane how to run a query. */
export function ResponseHint() {
  const { responseEditor } = useGraphiQL(pick('responseEditor'));
  useEffect(() => responseEditor?.updateOptions({ placeholder: HINT }), [responseEditor]);
  return null;
}
