import { useEffect, useState } from "react";
import { type Caller, type Credentials, demoCallers, identify } from "../api/client";
import { Notice } from "../parts/parts";

export function SignIn({ enter, reason }: { enter: (caller: Caller) => void; reason: string | null }) {
  const [callers, setCallers] = useState<Credentials[]>([]);
  const [problem, setProblem] = useState(reason);
  const [token, setToken] = useState("");
  useEffect(() => void demoCallers().then(setCallers), []);
  const signIn = async (credentials: Credentials) => {
    setProblem(null);
    const found = await identify(credentials);
    if (typeof found === "string") setProblem(found);
    else enter(found);
  };
  return (
    <main className="sign-in">
      <h1>SmartLocker</h1>
      <Notice error={problem} />
      {callers.length > 0 && (
        <section aria-labelledby="demo">
          <h2 id="demo">Try it as</h2>
          {callers.map((caller) => (
            <button key={caller.name} type="button" onClick={() => void signIn(caller)}>
              {caller.name}
            </button>
          ))}
        </section>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== "") void signIn({ name: "your token", token: token.trim() });
        }}
      >
        <label htmlFor="token">Token or API key</label>
        <input id="token" type="password" autoComplete="off" value={token} onChange={(event) => setToken(event.target.value)} />
        <button type="submit">Sign in</button>
      </form>
    </main>
  );
}
