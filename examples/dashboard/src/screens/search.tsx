import { useState } from "react";
import { SearchDocument, type SearchQuery } from "../api/documents";
import { useScreen } from "../api/hooks";
import { span, statusName, words } from "../parts/format";
import { Notice, Waiting } from "../parts/parts";

type Hit = NonNullable<SearchQuery["search"]>[number];

const HINT = "An id, an email address, a phone number, a reference, the code of a location, or the beginning of an owner's name.";

/** The text is a part of the address, so that a search can be sent to a colleague. */
export function Search({ text }: { text: string }) {
  const [typed, setTyped] = useState(text);
  return (
    <main>
      <h1>Search</h1>
      <form
        role="search"
        className="search"
        onSubmit={(event) => {
          event.preventDefault();
          location.hash = `/search/${encodeURIComponent(typed.trim())}`;
        }}
      >
        <label htmlFor="text">Find</label>
        <input id="text" type="search" maxLength={200} aria-describedby="hint" value={typed} onChange={(event) => setTyped(event.target.value)} autoFocus />
        <button type="submit">Search</button>
      </form>
      <p id="hint">
        <small>{HINT}</small>
      </p>
      {text !== "" && <Hits key={text} text={text} />}
    </main>
  );
}

function Hits({ text }: { text: string }) {
  const { data, error } = useScreen(SearchDocument, { text });
  const hits = data?.search;
  return (
    <>
      <Notice error={error} />
      {data === null && error === null && <Waiting what="what was found" />}
      {hits && (
        <p role="status">
          {hits.length === 0 ? `Nothing is called “${text}”.` : `${hits.length === 25 ? "At least 25" : hits.length} found.`}
        </p>
      )}
      <ul className="hits">
        {hits?.map((hit) => (
          <li key={hit.node.id} className="card">
            <Found hit={hit} /> <span className="tag">by {words(hit.matchedBy[0] ?? "").toLowerCase()}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Found({ hit: { node } }: { hit: Hit }) {
  switch (node.__typename) {
    case "Owner":
      return <Line kind={words(node.ownerKind ?? "owner")} link={`owner/${node.ownerId}`} name={node.name ?? node.ownerId} more={[node.ownerId, node.email, node.phone]} />;
    case "Locker":
      return <Line kind="Locker" link={`locker/${node.lockerId}`} name={node.alias ?? node.lockerId} more={[node.lockerId, statusName(node.lockerStatus), node.location?.name]} />;
    case "Location":
      return <Line kind="Location" link={`location/${node.locationId}`} name={node.place} more={[node.code, node.address.city]} />;
    case "Reservation":
      return (
        <Line
          kind="Reservation"
          link={`locker/${node.reservedLocker}`}
          name={node.reference ?? node.reservationId}
          more={[span(node.startAt, node.endAt), words(node.reservationStatus), node.owner?.name]}
        />
      );
    case "Booking":
      return <Line kind="Booking" link={`location/${node.bookedLocation}`} name={node.bookingId} more={[node.date, words(node.bookingStatus), node.owner?.name]} />;
    case "Webhook":
      return <Line kind="Webhook" name={node.webhookId} more={[node.url, words(node.webhookStatus)]} />;
    default:
      return <Line kind={node.__typename} name={node.id} more={[]} />;
  }
}

type LineProps = { kind: string; link?: string; name: string; more: readonly (string | null | undefined)[] };

function Line({ kind, link, name, more }: LineProps) {
  return (
    <>
      <small>{kind}</small> {link ? <a href={`#/${link}`}>{name}</a> : name} <small>{more.filter(Boolean).join(" · ")}</small>
    </>
  );
}
