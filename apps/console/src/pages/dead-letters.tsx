/** Dead letters: what used all its retries. One is retried or removed in its row, all that a filter takes above the table. */
import { type DeadLetter } from "@posthaste/client/api";
import { useSearch } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { Action } from "../parts/action.tsx";
import { Filters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf } from "../parts/pages-of.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Id, Short, Time } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { type Field, queryOf } from "../rules/filters.ts";
import { BulkOfLetters } from "./dead-letters-bulk.tsx";
import { destination, from, label, seldomOfMessages, to } from "./fields.ts";

const fields: readonly Field[] = [
  destination,
  label,
  { name: "responseStatus", label: "Status of the answer", kind: "text" },
  from,
  to,
  ...seldomOfMessages,
];
const rowsMax = 100;
/** Of each answer, in its row. */
const answerBytesMax = 200;

const columns: readonly Column<DeadLetter>[] = [
  { title: "Failed", cell: ({ dlqId }) => <Time at={failedAt(dlqId)} /> },
  { title: "Letter", cell: ({ dlqId }) => <Id to="/dead-letters" id={dlqId} /> },
  { title: "To", cell: ({ url }) => <Short text={url} /> },
  { title: "Label", cell: ({ labels }) => <Short text={labels?.join(", ")} /> },
  { title: "Status", cell: ({ responseStatus }) => statusOf(responseStatus), isNumber: true },
  { title: "Answer", cell: ({ responseBody }) => <Short text={responseBody} /> },
];

const actions: Column<DeadLetter> = {
  title: "Actions",
  cell: ({ dlqId }) => (
    <>
      <Action does="Retry" to={dlqId} asked={{ id: "retryDeadLetter", params: [dlqId] }} />
      <Action
        does="Remove"
        to={dlqId}
        asked={{ id: "removeDeadLetter", params: [dlqId] }}
        isFinal
      />
    </>
  ),
};

/** An id begins with it. */
export const failedAt = (dlqId: string): number | undefined => {
  const at = Number(/^(?:dlq_)?(\d+)-/.exec(dlqId)?.[1]);
  return Number.isNaN(at) ? undefined : at;
};

export const statusOf = (status: number): string => (status === 0 ? "none" : String(status));

const keyOf = ({ dlqId }: DeadLetter): string => dlqId;

/** A list of `source=workflow` has runs; this one has none. */
export const lettersIn = (
  data: { readonly messages: readonly object[] } | undefined,
): readonly DeadLetter[] | undefined =>
  data?.messages.filter((each): each is DeadLetter => !("workflowRunId" in each));

export function DeadLetters() {
  const { mayWrite } = useSession();
  const [search] = useSearch();
  const filters = queryOf(search, fields);
  const query = { ...filters, order: "latestFirst", count: rowsMax, trimBody: answerBytesMax };
  const fresh = search.has("cursor") ? "once" : "log";
  const { data, error } = useAsked({ id: "listDeadLetters", query }, { fresh });
  return (
    <Page title="Dead letters">
      <Filters fields={fields} />
      {mayWrite && <BulkOfLetters key={JSON.stringify(filters)} filters={filters} />}
      <Trouble error={error} isStale={data !== undefined} />
      <Table
        key={search.toString()}
        caption="Dead letters, newest first"
        columns={mayWrite ? [...columns, actions] : columns}
        rows={lettersIn(data)}
        keyOf={keyOf}
        none="none"
      />
      <PagesOf cursor={data?.cursor} />
    </Page>
  );
}
