// Copies the current request as a program that sends it.
import { pick, ToolbarButton, ToolbarMenu, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';

import { chosenOperation, isSubscription, operationNames } from './operation.js';
import { requestOf } from './request.js';
import { tokenSource } from './signin.jsx';
import { curl, javascript, python } from './snippets.js';

const LANGUAGES = { curl, JavaScript: javascript, Python: python };
const SHOWN_MS = 4000;

export function CopyAs() {
  const editors = useGraphiQL(pick('queryEditor', 'variableEditor', 'headerEditor', 'operationName'));
  const [outcome, setOutcome] = useState('');

  async function copy(language) {
    try {
      await navigator.clipboard.writeText(LANGUAGES[language](sendable(requestOf(editors))));
      setOutcome(`Copied as ${language}`);
    } catch (error) {
      setOutcome(`Not copied: ${error.message}`);
    }
    setTimeout(setOutcome, SHOWN_MS, '');
  }

  return (
    <div className="copy-as">
      <ToolbarMenu
        button={
          <ToolbarButton label="Copy as curl, JavaScript or Python">
            <CodeIcon />
          </ToolbarButton>
        }
      >
        {Object.keys(LANGUAGES).map(language => (
          <ToolbarMenu.Item key={language} onSelect={() => copy(language)}>
            Copy as {language}
          </ToolbarMenu.Item>
        ))}
      </ToolbarMenu>
      <span className="copy-outcome" role="status">
        {outcome}
      </span>
    </div>
  );
}

/** What a snippet needs. Of the headers it takes only where their token comes from, never the token. */
function sendable({ query, variables, operationName, headers }) {
  if (isSubscription({ query, operationName: chosenOperation(query, operationName) })) {
    throw new Error('see docs/live.md for programs that subscribe');
  }
  const body = { query };
  if (variables) {
    body.variables = variables;
  }
  if (operationNames(query).length > 1) {
    body.operationName = chosenOperation(query, operationName);
  }
  return { url: location.origin + location.pathname, body, tokenSource: tokenSource(headers) };
}

function CodeIcon() {
  return (
    <svg
      className="graphiql-toolbar-icon"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M6 5 1.5 10 6 15M14 5l4.5 5L14 15M11.5 3 8.5 17" />
    </svg>
  );
}
