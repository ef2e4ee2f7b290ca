// Who the requests come from: a development server offers tokens of demo users, other servers offer none.
import { useState } from 'react';

const KEY = 'graphiql:signedInAs';
const NO_TOKEN = 'No token';
// A development server listens only on its own machine; other servers are not asked.
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

let users = [];
let chosen = null;

/** Loads the tokens that the server offers. They stay in memory; only the chosen name is stored. */
export async function loadDemoUsers(url) {
  if (!LOOPBACK.includes(location.hostname)) {
    return;
  }
  const response = await fetch(url);
  users = response.ok ? await response.json() : [];
  const names = [...users.map(user => user.name), NO_TOKEN];
  const stored = localStorage.getItem(KEY);
  chosen = names.includes(stored) ? stored : names[0];
}

/** A fetcher that sends the chosen user's token; an Authorization header in the headers editor takes precedence. */
export function withToken(fetcher) {
  return (request, options) => {
    const token = chosenUser()?.token;
    const headers = options?.headers ?? {};
    if (!token || isAuthorized(headers)) {
      return fetcher(request, options);
    }
    return fetcher(request, { ...options, headers: { ...headers, Authorization: `Bearer ${token}` } });
  };
}

/**
 * Where a program that sends a request with these headers gets its token from; null if it needs none. A development server runs
 * requests without a token as an admin.
 */
export function tokenSource(headers) {
  if (isAuthorized(headers ?? {})) {
    return 'the token or API key of your Authorization header';
  }
  if (users.length === 0) {
    return 'a token or an API key for this server';
  }
  const command = chosenUser()?.command;
  return command ? `the output of: ${command}` : null;
}

function chosenUser() {
  return users.find(user => user.name === chosen);
}

function isAuthorized(headers) {
  return Object.keys(headers).some(name => name.toLowerCase() === 'authorization');
}

export function SignIn() {
  const [name, setName] = useState(chosen);
  if (users.length === 0) {
    return null;
  }

  function choose(event) {
    chosen = event.target.value;
    localStorage.setItem(KEY, chosen);
    setName(chosen);
  }

  return (
    <label className="sign-in" title="A development server runs requests without a token as an admin.">
      Signed in as{' '}
      <select value={name} onChange={choose}>
        {users.map(user => (
          <option key={user.name}>{user.name}</option>
        ))}
        <option value={NO_TOKEN}>No token (runs as admin)</option>
      </select>
    </label>
  );
}
