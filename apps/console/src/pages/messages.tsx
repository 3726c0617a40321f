/** Messages, one a row: the state of each, and its attempts. */
import { type LogEntry } from "@posthaste/client/api";
import { part, useSearch } from "../address.ts";
import { useAsked, useWork } from "../api/asked.ts";
import { call } from "../api/call.ts";
import { durationOf, shown } from "../api/text.ts";
import { BulkCancel } from "./bulk-cancel.tsx";
import { useSession } from "../api/session.ts";
import { postAsCurl } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf } from "../parts/pages-of.tsx";
import { Quick } from "../parts/quick.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Age, Short } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { type Walk, walk } from "../rules/bulk.ts";
import { type Field, isFiltered, queryOf } from "../rules/filters.ts";
import { idsIn, type MessageRow, rowsOf } from "../rules/message-rows.ts";
import { destination, from, host, label, seldomOfMessages, to } from "./fields.ts";
import { choicesOf, MessageState, messageStates } from "./states.tsx";

const fields: readonly Field[] = [
  { name: "state", label: "State", kind: { choices: choicesOf(messageStates) } },
  destination,
  host,
  label,
  from,
  to,
  ...seldomOfMessages,
  { name: "path", label: "Path", kind: "text", isSeldom: true },
];
const quick = [
  ["FAILED", "Failed"],
  ["RETRY", "Retrying"],
  ["CREATED", "Waiting"],
  ["", "All"],
] as const;
/** The events from which a page of messages is made. As many messages fit, so none is left out. */
const eventsMax = 100;
/** The calls for one page of messages. Each looks at some thousands of events, and may find none. */
const pagesMax = 100;
const storyEventsMax = 1_000;
const answerBytesMax = 120;

const columns: readonly Column<MessageRow>[] = [
  {
    title: "State",
    cell: ({ message }) => <MessageState state={message.state} />,
  },
  {
    title: "Destination",
    cell: ({ message }) => <Short text={message.url} />,
    isLink: true,
  },
  { title: "Label", cell: ({ message }) => <Short text={message.labels?.join(", ")} /> },
  { title: "Queue", cell: ({ message }) => <Short text={message.queueName} /> },
  { title: "Attempts", cell: attemptsOf, isNumber: true },
  { title: "Last answer", cell: ({ story }) => <Short text={lastAnswerOf(story.lastFailure)} /> },
  { title: "Accepted", cell: ({ story }) => <Age at={story.createdAt} />, isNumber: true },
  { title: "Took", cell: tookOf, isNumber: true },
  {
    title: "Message",
    cell: ({ id }) => (
      <span className="id short muted" title={shown(id)}>
        {shown(id)}
      </span>
    ),
  },
];

function attemptsOf({ message, story: { attempts, createdAt } }: MessageRow): string {
  const known = createdAt === undefined ? `${attempts.length}+` : String(attempts.length);
  return `${known} of ${message.maxRetries + 1}`;
}

function tookOf({ story: { createdAt, endedAt } }: MessageRow): string {
  if (createdAt === undefined || endedAt === undefined) return "";
  return durationOf(endedAt - createdAt);
}

/** Returns why the last failed attempt failed, in a few words. */
const lastAnswerOf = (failure: MessageRow["story"]["lastFailure"]): string => {
  if (failure === undefined) return "";
  const { responseStatus, error } = failure;
  return [responseStatus, error].filter((each) => each !== undefined).join(" ");
};

const linkOf = ({ id }: MessageRow): string => `/messages/${part(id)}`;
const keyOf = ({ id }: MessageRow): string => id;

export function Messages() {
  const { mayAct } = useSession();
  const [search] = useSearch();
  const filters = queryOf(search, fields);
  const { cursor, ...asked } = filters;
  const fresh = cursor === undefined ? "log" : "once";
  const found = useWork<Walk<LogEntry>>(
    ["messages", filters],
    (session, signal, tell) => {
      let left = eventsMax;
      return walk(
        async (after) => {
          const paged = { ...asked, count: left, ...(after !== undefined && { cursor: after }) };
          const query = { ...paged, trimBody: 0 };
          const page = await call(session, { id: "listEvents", query }, signal);
          left -= page.events.length;
          return { items: page.events, cursor: page.cursor };
        },
        () => true,
        { pages: pagesMax, found: eventsMax },
        { told: tell, ...(cursor !== undefined && { from: cursor }) },
      );
    },
    { fresh },
  );
  const ids = idsIn(found.data?.found ?? []);
  const isShort = found.data?.cursor !== undefined && found.data.found.length < eventsMax;
  // A row uses all events of its message, including those that the filter leaves out.
  const whole = useAsked(
    {
      id: "listEvents",
      query: { messageId: ids.join(","), count: storyEventsMax, trimBody: answerBytesMax },
    },
    { fresh, isAsked: ids.length > 0 },
  );
  const isKnown = found.data !== undefined && (ids.length === 0 || whole.data !== undefined);
  const rows = isKnown ? rowsIn(ids, whole.data?.events, search.get("state")) : undefined;
  return (
    <Page
      title="Messages"
      actions={<Quick name="state" label="Messages by state" choices={quick} />}
    >
      <div>
        <Filters fields={fields} />
        {mayAct && rows !== undefined && rows.length > 0 && (
          <BulkCancel key={JSON.stringify(filters)} filters={filters} />
        )}
      </div>
      <Trouble error={found.error ?? whole.error} />
      <div>
        <Table
          key={search.toString()}
          caption="Messages, latest event first"
          columns={columns}
          rows={rows}
          error={found.error ?? whole.error}
          keyOf={keyOf}
          linkOf={linkOf}
          none={isFiltered(search, fields) ? <NoneFound /> : <NoneYet />}
        />
        {isShort && (
          <p className="muted">
            {found.isFetching
              ? "Looking further back…"
              : "The log goes further back. The next page looks there."}
          </p>
        )}
        <PagesOf cursor={found.data?.cursor} />
      </div>
    </Page>
  );
}

/** Drops messages that were in the state once and have left it. */
function rowsIn(
  ids: readonly string[],
  events: Parameters<typeof rowsOf>[1] = [],
  state: string | null,
): readonly MessageRow[] {
  const rows = rowsOf(ids, events);
  const isPast = (row: MessageRow): boolean =>
    state !== null && state !== "ERROR" && state !== "" && row.message.state !== state;
  return rows.filter((row) => !isPast(row));
}

const NoneFound = () => (
  <Empty title="No message matches">
    Remove a filter, or look further back. The log keeps events for as long as the plan says.
  </Empty>
);

const NoneYet = () => (
  <Empty
    title="No messages yet"
    curl={postAsCurl("publish/https://example.com/hook", {
      headers: [["Content-Type", "application/json"]],
      body: '{"hello":"world"}',
    })}
  >
    Publish the first one:
  </Empty>
);
