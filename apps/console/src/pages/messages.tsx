/** The log of messages: what happened, the newest first. */
import { type LogEntry } from "@posthaste/client/api";
import { useSearch } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { Filters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf } from "../parts/pages-of.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { MessageId, Short, Time } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { type Field, queryOf } from "../rules/filters.ts";
import { destination, from, label, seldomOfMessages, to } from "./fields.ts";
import { choicesOf, MessageState, messageStates } from "./states.tsx";

const fields: readonly Field[] = [
  { name: "state", label: "State", kind: { choices: choicesOf(messageStates) } },
  destination,
  label,
  from,
  to,
  ...seldomOfMessages,
  { name: "host", label: "Host", kind: "text", isSeldom: true },
  { name: "path", label: "Path", kind: "text", isSeldom: true },
];
const rowsMax = 100;

const columns: readonly Column<LogEntry>[] = [
  { title: "Time", cell: ({ time }) => <Time at={time} /> },
  { title: "State", cell: ({ state }) => <MessageState state={state} /> },
  { title: "Message", cell: ({ messageId }) => <MessageId id={messageId} /> },
  { title: "To", cell: ({ url }) => <Short text={url} /> },
  { title: "Label", cell: ({ labels }) => <Short text={labels?.join(", ")} /> },
  {
    title: "Why",
    cell: ({ responseStatus, error }) => <Short text={error ?? statusIn(responseStatus)} />,
  },
];

const statusIn = (status: number | undefined): string =>
  status === undefined ? "" : `status ${status}`;

const keyOf = ({ messageId, state, time }: LogEntry): string => `${messageId} ${state} ${time}`;

export function Messages() {
  const [search] = useSearch();
  const query = { ...queryOf(search, fields), count: rowsMax, trimBody: 0 };
  const fresh = search.has("cursor") ? "once" : "log";
  const { data, error } = useAsked({ id: "listEvents", query }, { fresh });
  return (
    <Page title="Messages">
      <Filters fields={fields} />
      <Trouble error={error} isStale={data !== undefined} />
      <Table
        key={search.toString()}
        caption="What happened to messages, newest first"
        columns={columns}
        rows={data?.events}
        keyOf={keyOf}
        none="none"
      />
      <PagesOf cursor={data?.cursor} />
    </Page>
  );
}
