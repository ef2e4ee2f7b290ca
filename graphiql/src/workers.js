// Monaco's workers as separate files on this host: the page's Content-Security-Policy allows nothing else.
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';

const WORKERS = { json: JsonWorker, graphql: GraphQLWorker };

globalThis.MonacoEnvironment = {
  getWorker: (_id, label) => new (WORKERS[label] ?? EditorWorker)(),
};
