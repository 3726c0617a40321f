/** Runs of workflows, and one run step by step. */
import { type Run as RunRow, type RunStep } from "@posthaste/client/api";
import { type QueryOf, textOf, timeOf } from "./api.ts";
import { queryIn, useFilters } from "./address.ts";
import { Action, type Column, Filters, More, Table, Trouble } from "./table.tsx";
import { useAsked, useSession } from "./session.tsx";

const columns: readonly Column<RunRow>[] = [
  ["Started (UTC)", ({ workflowRunCreatedAt }) => timeOf(workflowRunCreatedAt)],
  [
    "Run",
    ({ workflowRunId }) => {
      const id = textOf(workflowRunId);
      return <a href={`#/runs/${encodeURIComponent(id)}`}>{id}</a>;
    },
  ],
  ["State", ({ workflowState }) => textOf(workflowState)],
  ["Workflow", ({ workflowUrl }) => textOf(workflowUrl, 200)],
  ["Label", ({ label }) => textOf(label, 200)],
];

const filterNames = [
  "workflowRunId",
  "workflowUrl",
  "state",
  "label",
  "fromDate",
  "toDate",
] as const satisfies readonly (keyof QueryOf<"listRunLogs">)[];

export function Runs() {
  const [filters] = useFilters();
  const query = { groupBy: "workflowRunId", ...queryIn(filters, filterNames) };
  const { data, error } = useAsked({ id: "listRunLogs", query }, query.cursor === undefined);
  return (
    <>
      <h1>Runs</h1>
      <Filters names={filterNames} />
      <Trouble error={error} />
      <Table caption="Runs, newest first" columns={columns} rows={data?.runs ?? []} />
      <More cursor={data?.cursor} />
    </>
  );
}

/** The log leaves results out unless it is told how much of each to show. */
const resultBytesMax = 20_000;

const stepColumns: readonly Column<RunStep>[] = [
  ["Step", ({ stepName, stepId }) => textOf(stepName ?? stepId, 200)],
  ["Type", ({ stepType }) => textOf(stepType)],
  ["State", ({ state }) => textOf(state)],
  ["At (UTC)", ({ createdAt }) => timeOf(createdAt)],
  [
    "Result",
    ({ out }) =>
      out === undefined ? null : (
        <details>
          <summary>Show</summary>
          <pre>{textOf(out)}</pre>
        </details>
      ),
  ],
];

export function Run({ id }: { readonly id: string }) {
  const { mayWrite } = useSession();
  const query = { workflowRunId: id, trimBody: resultBytesMax };
  const { data, error } = useAsked({ id: "listRunLogs", query });
  const run = data?.runs[0];
  const steps = run?.steps.flatMap((group) => group.steps) ?? [];
  const letter = run?.dlqId;
  return (
    <>
      <h1>Run {textOf(id)}</h1>
      <Trouble error={error} />
      {run === undefined && data !== undefined && <p>The log knows no run of this id.</p>}
      <p>{textOf(run?.workflowState)}</p>
      {mayWrite && letter !== undefined && (
        <p>
          <Action name="Restart" asked={{ id: "restartRun", params: [letter] }} />{" "}
          <Action name="Resume" asked={{ id: "resumeRun", params: [letter] }} />
        </p>
      )}
      <Table caption="Steps" columns={stepColumns} rows={steps} />
    </>
  );
}
