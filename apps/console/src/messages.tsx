/** The log of messages, and one message with what happened to it. */
import { type LogEntry } from "@posthaste/client/api";
import { bodyOf, type QueryOf, textOf, timeOf } from "./api.ts";
import { queryIn, useFilters } from "./address.ts";
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
] as const satisfies readonly (keyof QueryOf<"listEvents">)[];
const cellCharsMax = 200;

const columns: readonly Column<LogEntry>[] = [
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
  const query = queryIn(filters, filterNames);
  const { data, error } = useAsked({ id: "listEvents", query }, query.cursor === undefined);
  return (
    <>
      <h1>Messages</h1>
      <Filters names={filterNames} />
      <Trouble error={error} />
      <Table caption="Events, newest first" columns={columns} rows={data?.events ?? []} />
      <More cursor={data?.cursor} />
    </>
  );
}

const endStates = new Set(["DELIVERED", "FAILED", "CANCELED"]);

export function Message({ id }: { readonly id: string }) {
  const { mayWrite } = useSession();
  const query = { messageId: id, order: "earliestFirst", count: 100 };
  const { data, error } = useAsked({ id: "listEvents", query });
  const events = data?.events ?? [];
  const isLive = events.length > 0 && !events.some(({ state }) => endStates.has(state));
  return (
    <>
      <h1>Message {textOf(id)}</h1>
      <Trouble error={error} />
      {events.length === 0 && data !== undefined && <p>The log knows no message of this id.</p>}
      {mayWrite && isLive && <Action name="Cancel" asked={{ id: "cancelMessage", params: [id] }} />}
      <h2>What happened</h2>
      <ol className="timeline">
        {events.map((event, index) => (
          <Event key={index} event={event} />
        ))}
      </ol>
      <h2>Request</h2>
      <Details event={events[0]} names={["url", "method", "label", "queueName", "header"]} />
      <pre tabIndex={0} role="region" aria-label="Body">
        {bodyOf(events[0]?.body)}
      </pre>
    </>
  );
}

function Event({ event }: { readonly event: LogEntry }) {
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

type DetailsProps = {
  readonly event: LogEntry | undefined;
  readonly names: readonly (keyof LogEntry)[];
};

function Details({ event, names }: DetailsProps) {
  return (
    <dl>
      {names
        .filter((name) => event?.[name] !== undefined)
        .map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{textOf(event?.[name])}</dd>
          </div>
        ))}
    </dl>
  );
}
