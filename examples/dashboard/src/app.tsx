import { type ReactNode, useEffect, useMemo, useState } from "react";
import { type Caller, openApi } from "./api/client";
import { ApiContext } from "./api/hooks";
import { LiveMark } from "./parts/parts";
import { Board } from "./screens/board";
import { LockerScreen } from "./screens/locker";
import { Overdue } from "./screens/overdue";
import { Overview } from "./screens/overview";
import { OwnerScreen } from "./screens/owner";
import { Search } from "./screens/search";
import { SignIn } from "./screens/sign-in";
import { Usage } from "./screens/usage";

const KEPT = "smartlocker.caller";

const kept = (): Caller | null => JSON.parse(sessionStorage.getItem(KEPT) ?? "null") as Caller | null;

/** The screens that a place after `#/` names, each with what follows the name. */
const SCREENS: Record<string, (id: string) => ReactNode> = {
  "": () => <Overview />,
  location: (id) => <Board key={id} locationId={id} />,
  locker: (id) => <LockerScreen key={id} lockerId={id} />,
  usage: (id) => <Usage key={id} locationId={id} />,
  owner: (id) => <OwnerScreen key={id} ownerId={id} />,
  overdue: () => <Overdue />,
  search: (text) => <Search text={text} />,
};
const LINKS = { "": "Locations", overdue: "Overdue", search: "Search" };
const OWN_LINKS = { "": "Your lockers" };

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

/** A part of the address, as it is where somebody typed a percent sign. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function SignedIn({ caller, leave }: { caller: Caller; leave: (why: string | null) => void }) {
  const api = useMemo(() => openApi(caller, () => leave("Your credentials are not valid any more: sign in again.")), [caller]);
  useEffect(() => api.close, [api]);
  const [, named = "", id = ""] = useHash().split("/").map(decoded);
  const screen = named in SCREENS ? named : "";
  // Owners may not see locations and other owners: they begin with their own lockers.
  const own = caller.role === "OWNER" ? caller.ownerId : null;
  return (
    <ApiContext.Provider value={api}>
      <header>
        <a className="home" href="#/">
          SmartLocker
        </a>
        <nav aria-label="Screens">
          {Object.entries(own ? OWN_LINKS : LINKS).map(([place, text]) => (
            <a key={place} href={`#/${place}`} aria-current={screen === place ? "page" : undefined}>
              {text}
            </a>
          ))}
        </nav>
        <LiveMark />
        <span className="who">
          {caller.name}{" "}
          <button type="button" onClick={() => leave(null)}>
            Sign out
          </button>
        </span>
      </header>
      {own && screen === "" ? <OwnerScreen key={own} ownerId={own} /> : SCREENS[screen]?.(id)}
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
  return hash;
}
