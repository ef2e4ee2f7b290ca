import './workers.js';
import './style.css';

import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { createRoot } from 'react-dom/client';

import { exampleTabs } from './examples.js';
import { namingItsOwn } from './operation.js';
import { explaining } from './plan/explanations.js';
import { OPENING_PLUGIN, PLUGINS } from './plugins.jsx';
import { loadPeople, SignIn, signedIn } from './signin.jsx';
import { storageWithoutHeaders } from './storage.js';

const fetcher = namingItsOwn(
  explaining(signedIn(createGraphiQLFetcher({ url: location.pathname, enableIncrementalDelivery: false }))),
);
// The variables editor would otherwise take every scalar of ours for a plain value.
const scalars = { JSON: {}, DateTime: { type: 'string', format: 'date-time' } };

// Monaco measures its font once: it has to be there by then. The first request, for the schema, wants its token.
Promise.allSettled([document.fonts.load('15px "Fira Code"'), loadPeople(`${location.pathname}/tokens`)]).then(() => {
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
