import './workers.js';
import './style.css';

import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { createRoot } from 'react-dom/client';

import { exampleTabs } from './examples.js';
import { withMatchingOperationName } from './operation.js';
import { withExplanations } from './plan/explanations.js';
import { OPENING_PLUGIN, PLUGINS } from './plugins.jsx';
import { loadDemoUsers, SignIn, withToken } from './signin.jsx';
import { storageWithoutHeaders } from './storage.js';

const fetcher = withMatchingOperationName(
  withExplanations(withToken(createGraphiQLFetcher({ url: location.pathname, enableIncrementalDelivery: false }))),
);
// Without this the variables editor does not know our custom scalars.
const scalars = { JSON: {}, DateTime: { type: 'string', format: 'date-time' } };

// Monaco measures its font once, so the font must be loaded first; the introspection request needs its token.
Promise.allSettled([document.fonts.load('15px "Fira Code"'), loadDemoUsers(`${location.pathname}/tokens`)]).then(() => {
  createRoot(document.getElementById('graphiql')).render(
    <GraphiQL
      fetcher={fetcher}
      defaultTabs={exampleTabs(new Date())}
      defaultEditorToolsVisibility
      plugins={PLUGINS}
      visiblePlugin={OPENING_PLUGIN}
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
    </GraphiQL>,
  );
});
