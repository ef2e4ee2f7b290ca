// Whom requests come from: in development the server offers tokens of people to play, elsewhere it offers none.
import { useState } from 'react';

const KEY = 'graphiql:signedInAs';
const NOBODY = 'No token';
// A development server listens on its own machine alone: no other is even asked.
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

let people = [];
let chosen = null;

/** Asks the server for the tokens that it offers. They are kept in the page alone; of the choice, the name is stored. */
export async function loadPeople(url) {
  if (!LOOPBACK.includes(location.hostname)) {
    return;
  }
  const response = await fetch(url);
  people = response.ok ? await response.json() : [];
  const names = [...people.map(person => person.name), NOBODY];
  const stored = localStorage.getItem(KEY);
  chosen = names.includes(stored) ? stored : names[0];
}

/** A fetcher whose requests carry the token of whoever was chosen; one that is typed into the headers goes before it. */
export function signedIn(fetcher) {
  return (request, options) => {
    const token = people.find(person => person.name === chosen)?.token;
    const headers = options?.headers ?? {};
    if (!token || Object.keys(headers).some(name => name.toLowerCase() === 'authorization')) {
      return fetcher(request, options);
    }
    return fetcher(request, { ...options, headers: { ...headers, Authorization: `Bearer ${token}` } });
  };
}

export function SignIn() {
  const [name, setName] = useState(chosen);
  if (people.length === 0) {
    return null;
  }

  function choose(event) {
    chosen = event.target.value;
    localStorage.setItem(KEY, chosen);
    setName(chosen);
  }

  return (
    <label className="sign-in">
      Signed in as{' '}
      <select value={name} onChange={choose}>
        {people.map(person => (
          <option key={person.name}>{person.name}</option>
        ))}
        <option>{NOBODY}</option>
      </select>
    </label>
  );
}
