/** Dead letters: messages that used all retries. A row retries or removes one, the bar above all that a filter matches. */
import { type DeadLetter } from "@posthaste/client/api";
import { part, useSearch } from "../address.ts";
import { useWork } from "../api/asked.ts";
import { call } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { durationOf } from "../api/text.ts";
import { Action } from "../parts/action.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf } from "../parts/pages-of.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Age, Short } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { perCallMax, type Walk, walk } from "../rules/bulk.ts";
import { type Field, isFiltered, queryOf } from "../rules/filters.ts";
import { failedAt, isAt, lettersIn, reasonOf } from "../rules/letters.ts";
import { BulkOfLetters } from "./dead-letters-bulk.tsx";
import { destination, from, host, label, seldomOfMessages, to } from "./fields.ts";

const fields: readonly Field[] = [
  destination,
  host,
  label,
  { name: "responseStatus", label: "Status of the answer", kind: "text" },
  from,
  to,
  ...seldomOfMessages,
];
const answerBytesMax = 200;
/** The pages searched for a host's letters, for one page of results. */
const pagesMax = 20;

const columns: readonly Column<DeadLetter>[] = [
  { title: "Failed", cell: ({ dlqId }) => <Age at={failedAt(dlqId)} /> },
  { title: "Destination", cell: ({ url }) => <Short text={url} />, isLink: true },
  { title: "Reason", cell: (letter) => <Short text={reasonOf(letter)} /> },
  {
    title: "Answer",
    cell: ({ responseBody }) => <Short text={responseBody} />,
  },
  { title: "Label", cell: ({ labels }) => <Short text={labels?.join(", ")} /> },
  { title: "Queue", cell: ({ queueName }) => <Short text={queueName} /> },
];

const actions = ({ dlqId }: DeadLetter) => (
  <>
    <Action
      does="Retry"
      to={dlqId}
      asked={{ id: "retryDeadLetter", params: [dlqId] }}
      shownAt={({ messageId }) => `/messages/${part(messageId)}`}
      isSmall
    />
    <Action
      does="Remove"
      to={dlqId}
      asked={{ id: "removeDeadLetter", params: [dlqId] }}
      isFinal
      isSmall
    />
  </>
);

const keyOf = ({ dlqId }: DeadLetter): string => dlqId;
const linkOf = ({ dlqId }: DeadLetter): string => `/dead-letters/${part(dlqId)}`;

export function DeadLetters() {
  const { mayAct } = useSession();
  const [search] = useSearch();
  // The API has no such filter.
  const { host: only, cursor, ...filters } = queryOf(search, fields);
  const { data, error } = useWork<Walk<DeadLetter>>(
    ["letters", filters, only, cursor],
    async (session, signal, tell) => {
      const query = {
        ...filters,
        order: "latestFirst",
        count: perCallMax,
        trimBody: answerBytesMax,
      };
      return walk(
        async (after) => {
          const paged = { ...query, ...(after !== undefined && { cursor: after }) };
          const page = await call(session, { id: "listDeadLetters", query: paged }, signal);
          return { items: lettersIn(page) ?? [], cursor: page.cursor };
        },
        ({ url }) => isAt(only, url),
        { pages: only === undefined ? 1 : pagesMax, found: perCallMax },
        { told: tell, ...(cursor !== undefined && { from: cursor }) },
      );
    },
    { fresh: cursor === undefined ? "log" : "once" },
  );
  return (
    <Page title="Dead letters">
      <div>
        <Filters fields={fields} />
        {mayAct && data !== undefined && (
          <BulkOfLetters
            key={JSON.stringify([filters, only])}
            filters={filters}
            host={only}
            isEmpty={data.found.length === 0}
          />
        )}
      </div>
      <Trouble error={error} />
      <div>
        <Table
          key={search.toString()}
          caption="Dead letters, newest first"
          columns={columns}
          rows={data?.found}
          error={error}
          keyOf={keyOf}
          linkOf={linkOf}
          actions={mayAct && actions}
          none={isFiltered(search, fields) ? <Empty title="No dead letter matches" /> : <None />}
        />
        {only !== undefined && data?.cursor !== undefined && (
          <p className="muted">Found among {data.looked.toLocaleString("en")} dead letters.</p>
        )}
        <PagesOf cursor={data?.cursor} />
      </div>
    </Page>
  );
}

function None() {
  const { plan } = useSession();
  return (
    <Empty title="No dead letters">
      A message that has used all its retries is shown here
      {plan && `, and is kept for ${durationOf(plan.deadLetterMs)}`}.
    </Empty>
  );
}
