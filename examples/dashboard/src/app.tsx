import { useEffect, useMemo, useState } from "react";
import { type Caller, openApi } from "./api/client";
import { ApiContext } from "./api/hooks";
import { LiveMark } from "./parts/parts";
import { Board } from "./screens/board";
import { LockerScreen } from "./screens/locker";
import { Overview } from "./screens/overview";
import { SignIn } from "./screens/sign-in";
import { Usage } from "./screens/usage";

const KEPT = "smartlocker.caller";

const kept = (): Caller | null => JSON.parse(sessionStorage.getItem(KEPT) ?? "null") as Caller | null;

export function App() {
  const [caller, setCaller] = useState<Caller | null>(kept);
  const [reason, setReason] = useState<string | null>(null);
  const leave = (why: string | null) => {
    sessionStorage.removeItem(KEPT);
    setReason(why);
    setCaller(null);
  };
  if (caller === null) {
    return (
      <SignIn
        reason={reason}
        enter={(chosen) => {
          sessionStorage.setItem(KEPT, JSON.stringify(chosen));
          setCaller(chosen);
        }}
      />
    );
  }
  return <SignedIn key={caller.token} caller={caller} leave={leave} />;
}

function SignedIn({ caller, leave }: { caller: Caller; leave: (why: string | null) => void }) {
  const api = useMemo(() => openApi(caller, () => leave("Your credentials are not valid any more: sign in again.")), [caller]);
  useEffect(() => api.close, [api]);
  const [screen, id = ""] = useHash().split("/").slice(1);
  return (
    <ApiContext.Provider value={api}>
      <header>
        <a href="#/">SmartLocker</a>
        <LiveMark />
        <span className="who">
          {caller.name}{" "}
          <button type="button" onClick={() => leave(null)}>
            Sign out
          </button>
        </span>
      </header>
      {screen === "location" && <Board key={id} locationId={id} />}
      {screen === "locker" && <LockerScreen key={id} lockerId={id} />}
      {screen === "usage" && <Usage key={id} locationId={id} />}
      {!["location", "locker", "usage"].includes(screen ?? "") && <Overview />}
    </ApiContext.Provider>
  );
}

function useHash(): string {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => {
      setHash(location.hash);
      scrollTo(0, 0);
    };
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return decodeURIComponent(hash);
}
