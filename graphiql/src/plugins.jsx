// What stands in the side bar, from the top; the documentation, which GraphiQL adds by itself, comes before these.
// A new pane is one more entry: `{ title, icon, content }`, where icon and content are components.
import { DocExplorer } from '@graphiql/plugin-doc-explorer';
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';

import { PLAN } from './plan/pane.jsx';

const EXPLORER = explorerPlugin({ showAttribution: false });

/** The explorer above the documentation: GraphiQL shows one pane at a time, and a newcomer wants both. */
const EXPLORER_AND_DOCS = {
  ...EXPLORER,
  title: 'Explorer and Documentation',
  content: () => (
    <div className="explorer-and-docs">
      <section aria-label="Explorer">
        <EXPLORER.content />
      </section>
      <div>
        <DocExplorer />
      </div>
    </div>
  ),
};

export const PLUGINS = [EXPLORER_AND_DOCS, PLAN, HISTORY_PLUGIN];
export const OPENING_PLUGIN = EXPLORER_AND_DOCS.title;
