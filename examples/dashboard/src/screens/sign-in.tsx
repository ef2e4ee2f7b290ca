import { useEffect, useState } from "react";
import { type Caller, demoCallers } from "../api/client";

export function SignIn({ enter, reason }: { enter: (caller: Caller) => void; reason: string | null }) {
  const [callers, setCallers] = useState<Caller[]>([]);
  const [token, setToken] = useState("");
  useEffect(() => void demoCallers().then(setCallers), []);
  return (
    <main className="sign-in">
      <h1>SmartLocker</h1>
      {reason !== null && (
        <p className="notice" role="alert">
          {reason}
        </p>
      )}
      {callers.length > 0 && (
        <section aria-labelledby="demo">
          <h2 id="demo">Try it as</h2>
          {callers.map((caller) => (
            <button key={caller.name} type="button" onClick={() => enter(caller)}>
              {caller.name}
            </button>
          ))}
        </section>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== "") enter({ name: "your token", token: token.trim() });
        }}
      >
        <label htmlFor="token">Token or API key</label>
        <input id="token" type="password" autoComplete="off" value={token} onChange={(event) => setToken(event.target.value)} />
        <button type="submit">Sign in</button>
      </form>
    </main>
  );
}
