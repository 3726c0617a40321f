/** Runs of workflows, the newest first. */
import { type Run } from "@posthaste/client/api";
import { useSearch } from "../address.ts";
import { useAsked } from "../api/asked.ts";
import { useSession } from "../api/session.ts";
import { durationOf } from "../api/text.ts";
import { Filters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { PagesOf } from "../parts/pages-of.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { RunId, Short, Time } from "../parts/text.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { type Field, queryOf } from "../rules/filters.ts";
import { from, label, to } from "./fields.ts";
import { RunActions } from "./run/actions.tsx";
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
const rowsMax = 100;

const columns: readonly Column<Run>[] = [
  { title: "Started", cell: (run) => <Time at={run.workflowRunCreatedAt} /> },
  { title: "State", cell: (run) => <RunState state={run.workflowState} /> },
  { title: "Run", cell: (run) => <RunId id={run.workflowRunId} /> },
  { title: "Workflow", cell: (run) => <Short text={run.workflowUrl} /> },
  { title: "Label", cell: (run) => <Short text={run.labels?.join(", ")} /> },
  { title: "Took", cell: tookOf, isNumber: true },
];
const actions: Column<Run> = { title: "Actions", cell: (run) => <RunActions run={run} /> };

function tookOf({ workflowRunCreatedAt: began, workflowRunCompletedAt: ended }: Run): string {
  return ended === undefined ? "" : durationOf(ended - began);
}

/** An id may be used again. */
const keyOf = (run: Run): string => `${run.workflowRunId} ${run.workflowRunCreatedAt}`;

export function Runs() {
  const { mayWrite } = useSession();
  const [search] = useSearch();
  const query = { ...queryOf(search, fields), count: rowsMax, steps: "none" };
  const fresh = search.has("cursor") ? "once" : "often";
  const { data, error } = useAsked({ id: "listRunLogs", query }, { fresh });
  return (
    <Page title="Runs">
      <Filters fields={fields} />
      <Trouble error={error} isStale={data !== undefined} />
      <Table
        key={search.toString()}
        caption="Runs of workflows, newest first"
        columns={mayWrite ? [...columns, actions] : columns}
        rows={data?.runs}
        keyOf={keyOf}
        none="none"
      />
      <PagesOf cursor={data?.cursor} />
    </Page>
  );
}
