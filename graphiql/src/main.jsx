import './workers.js';
import './theme.js';
import './style.css';

import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { createRoot } from 'react-dom/client';

import { CopyAs } from './copy.jsx';
import { Editors } from './editors.jsx';
import { exampleTabs } from './examples.js';
import { withSubscriptions } from './live.js';
import { withMatchingOperationName } from './operation.js';
import { withExplanations } from './plan/explanations.js';
import { OPENING_PLUGIN, PLUGINS } from './plugins.jsx';
import { withSortedSchema } from './schema.js';
import { loadDemoUsers, SignIn, withToken } from './signin.jsx';
import { storageWithoutHeaders } from './storage.js';
import { ActiveTabInView } from './tabs.jsx';

const server = createGraphiQLFetcher({ url: location.pathname, enableIncrementalDelivery: false });
const fetcher = withMatchingOperationName(withExplanations(withSortedSchema(withToken(withSubscriptions(server)))));
// Without this the variables editor does not know our custom scalars.
const scalars = { JSON: {}, DateTime: { type: 'string', format: 'date-time' } };

// A narrow window opens with the editor alone; see style.css.
const isNarrow = matchMedia('(max-width: 44rem)').matches;

// Monaco measures its font once, so the font must be loaded first; the introspection request needs its token.
Promise.allSettled([document.fonts.load('15px "Fira Code"'), loadDemoUsers(`${location.pathname}/tokens`)]).then(() => {
  createRoot(document.getElementById('graphiql')).render(
    <GraphiQL
      fetcher={fetcher}
      defaultTabs={exampleTabs(new Date())}
      defaultEditorToolsVisibility
      plugins={PLUGINS}
      visiblePlugin={isNarrow ? undefined : OPENING_PLUGIN}
      storage={storageWithoutHeaders(localStorage)}
      shouldPersistHeaders={false}
      customScalarSchemas={scalars}
      inputValueDeprecation
      schemaDescription
    >
      <GraphiQL.Logo>
        <SignIn />
        <span className="brand">SmartLocker</span>
      </GraphiQL.Logo>
      <GraphiQL.Toolbar>
        {({ prettify, merge, copy }) => (
          <>
            {prettify}
            {merge}
            {copy}
            <CopyAs />
          </>
        )}
      </GraphiQL.Toolbar>
      <Editors />
      <ActiveTabInView />
    </GraphiQL>,
  );
});
