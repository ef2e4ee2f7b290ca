// Monaco's workers as files of their own on this host: the policy of the page allows no other kind.
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';

const WORKERS = { json: JsonWorker, graphql: GraphQLWorker };

globalThis.MonacoEnvironment = {
  getWorker: (_id, label) => new (WORKERS[label] ?? EditorWorker)(),
};
