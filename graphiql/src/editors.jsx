import { formatShortcutForOS, KEY_MAP, pick, useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

const HINT = `Run the operation with the button ▶ or ${formatShortcutForOS(KEY_MAP.runQuery.key)} to see its response here.`;

/** Sets up GraphiQL's editors: lines wrap, style.css knows which are empty, and an empty response says how to run a query. */
export function Editors() {
  const { queryEditor, variableEditor, headerEditor, responseEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor', 'responseEditor'),
  );
  useEffect(() => responseEditor?.updateOptions({ placeholder: HINT }), [responseEditor]);
  useEffect(() => {
    const editors = [queryEditor, variableEditor, headerEditor].filter(Boolean);
    for (const editor of editors) {
      editor.updateOptions({ wordWrap: 'on', wrappingIndent: 'indent' });
    }
    const listeners = editors.map(editor => editor.onDidChangeModelContent(() => markIfEmpty(editor)));
    editors.forEach(markIfEmpty);
    return () => listeners.forEach(listener => listener.dispose());
  }, [queryEditor, variableEditor, headerEditor]);
  return null;
}

function markIfEmpty(editor) {
  editor.getContainerDomNode().toggleAttribute('data-empty', editor.getValue().trim() === '');
}
