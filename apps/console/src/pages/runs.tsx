import { type Run } from "@posthaste/client/api";
import { part, useSearch } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { durationOf, shown } from "../api/text.ts";
import { postAsCurl } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf } from "../parts/pages-of.tsx";
import { Quick } from "../parts/quick.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Age, Short } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { type Field, isFiltered, queryOf } from "../rules/filters.ts";
import { from, label, to } from "./fields.ts";
import { RunActions } from "./run/actions.tsx";
import { BulkOfRuns } from "./runs-bulk.tsx";
import { choicesOf, RunState, runStates } from "./states.tsx";

const fields: readonly Field[] = [
  { name: "state", label: "State", kind: { choices: choicesOf(runStates) } },
  { name: "workflowUrl", label: "Workflow URL", kind: "text" },
  label,
  from,
  to,
  { name: "workflowRunId", label: "Run id", kind: "text", isSeldom: true },
  { name: "flowControlKey", label: "Flow key", kind: "text", isSeldom: true },
  { name: "callerIp", label: "Caller's address", kind: "text", isSeldom: true },
];
const quick = [
  ["RUN_FAILED", "Failed"],
  ["RUN_STARTED", "Running"],
  ["", "All"],
] as const;
const rowsMax = 100;

const columns: readonly Column<Run>[] = [
  { title: "State", cell: (run) => <RunState state={run.workflowState} /> },
  {
    title: "Run",
    cell: (run) => <span className="id">{shown(run.workflowRunId)}</span>,
    isLink: true,
  },
  { title: "Workflow", cell: (run) => <Short text={run.workflowUrl} /> },
  { title: "Label", cell: (run) => <Short text={run.labels?.join(", ")} /> },
  { title: "Started", cell: (run) => <Age at={run.workflowRunCreatedAt} />, isNumber: true },
  { title: "Took", cell: tookOf, isNumber: true },
];

function tookOf({ workflowRunCreatedAt: began, workflowRunCompletedAt: ended }: Run): string {
  return ended === undefined ? "" : durationOf(ended - began);
}

/** An id may be used again. */
const keyOf = (run: Run): string => `${run.workflowRunId} ${run.workflowRunCreatedAt}`;
const linkOf = (run: Run): string => `/runs/${part(run.workflowRunId)}`;

export function Runs() {
  const { mayAct } = useSession();
  const [search] = useSearch();
  const filters = queryOf(search, fields);
  const query = { ...filters, count: rowsMax, steps: "none" };
  const fresh = search.has("cursor") ? "once" : "often";
  const { data, error } = useAsked({ id: "listRunLogs", query }, { fresh });
  return (
    <Page title="Runs" actions={<Quick name="state" label="Runs by state" choices={quick} />}>
      <div>
        <Filters fields={fields} />
        {mayAct && data !== undefined && (
          <BulkOfRuns
            key={JSON.stringify(filters)}
            filters={filters}
            isEmpty={data.runs.length === 0}
          />
        )}
      </div>
      <Trouble error={error} />
      <div>
        <Table
          key={search.toString()}
          caption="Runs of workflows, newest first"
          columns={columns}
          rows={data?.runs}
          error={error}
          keyOf={keyOf}
          linkOf={linkOf}
          actions={mayAct && ((run: Run) => <RunActions run={run} isSmall />)}
          none={isFiltered(search, fields) ? <Empty title="No run matches" /> : <NoneYet />}
        />
        <PagesOf cursor={data?.cursor} />
      </div>
    </Page>
  );
}

const NoneYet = () => (
  <Empty
    title="No runs yet"
    curl={postAsCurl("trigger/https://example.com/workflow", { body: '{"order":17}' })}
  >
    Start one, at an endpoint that serves a workflow:
  </Empty>
);
