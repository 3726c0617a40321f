/** The log of messages, and one message with what happened to it. */
import { bodyOf, type Row, rowOf, rowsOf, textOf, timeOf } from "./api.ts";
import { useFilters } from "./address.ts";
import { Action, type Column, Filters, More, Table, Trouble } from "./table.tsx";
import { useAsked, useSession } from "./session.tsx";

const filterNames = [
  "messageId",
  "state",
  "url",
  "label",
  "topicName",
  "scheduleId",
  "queueName",
  "flowControlKey",
  "callerIp",
  "host",
  "path",
  "fromDate",
  "toDate",
];
const cellCharsMax = 200;

const columns: readonly Column[] = [
  ["Time (UTC)", ({ time }) => timeOf(time)],
  ["State", ({ state }) => textOf(state)],
  ["Message", ({ messageId }) => <MessageLink id={messageId} />],
  ["To", ({ url }) => textOf(url, cellCharsMax)],
  ["Label", ({ label }) => textOf(label, cellCharsMax)],
  ["Status", ({ responseStatus }) => textOf(responseStatus)],
  ["Error", ({ error }) => textOf(error, cellCharsMax)],
];

export function MessageLink({ id }: { readonly id: unknown }) {
  const text = textOf(id);
  return <a href={`#/messages/${encodeURIComponent(text)}`}>{text}</a>;
}

export function Messages() {
  const [filters] = useFilters();
  const { data, error } = useAsked(`v2/events?${filters.toString()}`, !filters.has("cursor"));
  return (
    <>
      <h1>Messages</h1>
      <Filters names={filterNames} />
      <Trouble error={error} />
      <Table caption="Events, newest first" columns={columns} rows={rowsOf(data, "events")} />
      <More cursor={rowOf(data)["cursor"]} />
    </>
  );
}

const endStates = new Set(["DELIVERED", "FAILED", "CANCELED"]);

export function Message({ id }: { readonly id: string }) {
  const { mayWrite } = useSession();
  const query = new URLSearchParams({ messageId: id, order: "earliestFirst", count: "100" });
  const { data, error } = useAsked(`v2/events?${query.toString()}`);
  const events = rowsOf(data, "events");
  const isLive = events.length > 0 && !events.some(({ state }) => endStates.has(textOf(state)));
  return (
    <>
      <h1>Message {textOf(id)}</h1>
      <Trouble error={error} />
      {events.length === 0 && data !== undefined && <p>The log knows no message of this id.</p>}
      {mayWrite && isLive && (
        <Action name="Cancel" method="DELETE" path={`v2/messages/${encodeURIComponent(id)}`} />
      )}
      <h2>What happened</h2>
      <ol className="timeline">
        {events.map((event, index) => (
          <Event key={index} event={event} />
        ))}
      </ol>
      <h2>Request</h2>
      <Details row={events[0] ?? {}} names={["url", "method", "label", "queueName", "header"]} />
      <pre tabIndex={0} role="region" aria-label="Body">
        {bodyOf(events[0]?.["body"])}
      </pre>
    </>
  );
}

function Event({ event }: { readonly event: Row }) {
  const { time, state, responseStatus, error, responseBody, nextDeliveryTime } = event;
  return (
    <li>
      <strong>{textOf(state)}</strong> <span>{timeOf(time)}</span>{" "}
      {responseStatus !== undefined && <span>status {textOf(responseStatus)}</span>}
      {nextDeliveryTime !== undefined && <span> next at {timeOf(nextDeliveryTime)}</span>}
      {error !== undefined && <p className="trouble">{textOf(error)}</p>}
      {responseBody !== undefined && responseBody !== "" && (
        <details>
          <summary>Response</summary>
          <pre>{bodyOf(responseBody)}</pre>
        </details>
      )}
    </li>
  );
}

type DetailsProps = { readonly row: Row; readonly names: readonly string[] };

function Details({ row, names }: DetailsProps) {
  return (
    <dl>
      {names
        .filter((name) => row[name] !== undefined)
        .map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{textOf(row[name])}</dd>
          </div>
        ))}
    </dl>
  );
}
