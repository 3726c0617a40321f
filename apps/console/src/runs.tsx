/** Runs of workflows, and one run step by step. */
import { type Row, rowOf, rowsOf, textOf, timeOf } from "./api.ts";
import { useFilters } from "./address.ts";
import { Action, type Column, Filters, More, Table, Trouble } from "./table.tsx";
import { useAsked, useSession } from "./session.tsx";

const columns: readonly Column[] = [
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

export function Runs() {
  const [filters] = useFilters();
  const query = new URLSearchParams([["groupBy", "workflowRunId"], ...filters]);
  const { data, error } = useAsked(`v2/workflows/logs?${query.toString()}`, !filters.has("cursor"));
  const { cursor } = rowOf(data);
  return (
    <>
      <h1>Runs</h1>
      <Filters names={["workflowRunId", "workflowUrl", "state", "label", "fromDate", "toDate"]} />
      <Trouble error={error} />
      <Table caption="Runs, newest first" columns={columns} rows={rowsOf(data, "runs")} />
      <More cursor={cursor === "" ? undefined : cursor} />
    </>
  );
}

/** The log leaves results out unless it is told how much of each to show. */
const resultBytesMax = "20000";

const stepColumns: readonly Column[] = [
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
  const query = new URLSearchParams({ workflowRunId: id, trimBody: resultBytesMax });
  const { data, error } = useAsked(`v2/workflows/logs?${query.toString()}`);
  const run = rowsOf(data, "runs")[0];
  const steps = rowsOf(run?.["steps"]).flatMap((group): readonly Row[] => rowsOf(group, "steps"));
  const letter = encodeURIComponent(textOf(run?.["dlqId"]));
  return (
    <>
      <h1>Run {textOf(id)}</h1>
      <Trouble error={error} />
      {run === undefined && data !== undefined && <p>The log knows no run of this id.</p>}
      <p>{textOf(run?.["workflowState"])}</p>
      {mayWrite && letter !== "" && (
        <p>
          <Action name="Restart" method="POST" path={`v2/workflows/dlq/restart/${letter}`} />{" "}
          <Action name="Resume" method="POST" path={`v2/workflows/dlq/resume/${letter}`} />
        </p>
      )}
      <Table caption="Steps" columns={stepColumns} rows={steps} />
    </>
  );
}
