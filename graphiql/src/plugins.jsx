// The panes of the side bar, from the top; GraphiQL puts its own documentation pane before them.
// A pane is `{ title, icon, content }`, where icon and content are components.
import { DocExplorer } from '@graphiql/plugin-doc-explorer';
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';

import { PLAN } from './plan/pane.jsx';

const EXPLORER = explorerPlugin({ showAttribution: false });

/**
 * The explorer above the documentation in one pane, since GraphiQL shows only one pane at a time. The explorer's section can have the
 * focus: vite.config.js lets the explorer move the focus only while it is there.
 */
const EXPLORER_AND_DOCS = {
  ...EXPLORER,
  title: 'Explorer and Documentation',
  content: () => (
    <div className="explorer-and-docs">
      <section className="explorer" aria-label="Explorer" tabIndex={-1}>
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
