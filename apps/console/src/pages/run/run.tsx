/** Shows one run: the reason for its state, and its steps on a scale of time or as a graph. */
import { type Run } from "@posthaste/client/api";
import { lazy, Suspense } from "react";
import { part, useLastPart, useSearch } from "../../address.ts";
import { useAsked } from "../../api/asked.ts";
import { durationOf, shown } from "../../api/text.ts";
import { Facts } from "../../parts/facts.tsx";
import { Inside, Page, Panel } from "../../parts/page.tsx";
import { Filtered, Labels, RunId, timeOf } from "../../parts/text.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { failedRow, waitingRows, waterfallOf } from "../../rules/waterfall.ts";
import { errorWordsOf } from "../../rules/attempt-error.ts";
import { Reason } from "../reason.tsx";
import { RunState } from "../states.tsx";
import { RunActions } from "./actions.tsx";
import { StepDetails } from "./step-details.tsx";
import { Steps } from "./steps.tsx";
import { Waits } from "./waits.tsx";

/** Loaded on demand, being large. */
const Graph = lazy(() => import("./graph.tsx").then(({ RunGraph }) => ({ default: RunGraph })));

export function RunPage() {
  const id = useLastPart();
  const [search] = useSearch();
  const { data, error } = useAsked(
    { id: "listRunLogs", query: { workflowRunId: id, count: 1 } },
    { fresh: "often" },
  );
  const bare = data?.runs[0];
  const isTroubled = bare !== undefined && hasErrors(bare);
  // The answer contains the reason for a failed attempt, and is left out unless asked for.
  const whole = useAsked(
    { id: "listRunLogs", query: { workflowRunId: id, count: 1, trimBody: answerBytesMax } },
    { fresh: "often", isAsked: isTroubled },
  );
  const run = (isTroubled && whole.data?.runs[0]) || bare;
  return (
    <Page
      title="Run"
      id={id}
      state={run && <RunState state={run.workflowState} />}
      actions={run && <RunActions run={run} />}
    >
      <Trouble error={error} />
      {data !== undefined && run === undefined && (
        <p className="notice">No run has this id, or the run is no longer kept.</p>
      )}
      {run !== undefined && (
        <>
          <Why run={run} />
          <Views id={id} search={search} />
          <View run={run} />
          <Standing run={run} />
        </>
      )}
    </Page>
  );
}

const answerBytesMax = 500;

const hasErrors = ({ steps }: Run): boolean =>
  steps.some((group) => group.steps.some(({ errors = [] }) => errors.length > 0));

function Why({ run }: { readonly run: Run }) {
  const waterfall = waterfallOf(run, Date.now());
  const failed = failedRow(waterfall);
  const error = failed?.lastError;
  if (run.workflowState === "RUN_FAILED")
    return (
      <Reason
        what={
          failed === undefined
            ? "Failed"
            : `The step ${shown(failed.name)} failed after ${failed.failures} ${failed.failures === 1 ? "attempt" : "attempts"}`
        }
        status={error?.status ?? run.failureFunction?.failStatus}
        error={error && errorWordsOf(error)}
        answer={error === undefined ? run.failureFunction?.failResponse : undefined}
      />
    );
  if (run.workflowState !== "RUN_STARTED") return null;
  return waitingRows(waterfall).map((row) => <Waits key={row.key} run={run} row={row} />);
}

function Standing({ run }: { readonly run: Run }) {
  const { failureFunction, invoker, labels, flowControlKey } = run;
  const { workflowRunCreatedAt: beganAt, workflowRunCompletedAt: endedAt } = run;
  const children = run.steps
    .flatMap(({ steps }) => steps)
    .flatMap(({ invokedWorkflowRunId: child }) => (child === undefined ? [] : [child]));
  return (
    <Panel title="Run">
      <Inside>
        <Facts
          facts={[
            ["Workflow", <Filtered to="/runs" by="workflowUrl" text={run.workflowUrl} />],
            ["Started", timeOf(beganAt)],
            [
              "Ended",
              endedAt !== undefined && (
                <>
                  {timeOf(endedAt)}
                  <span className="muted"> · took {durationOf(endedAt - beganAt)}</span>
                </>
              ),
            ],
            ["Labels", labels && <Labels to="/runs" labels={labels} />],
            [
              "Flow key",
              flowControlKey !== undefined && (
                <Filtered to="/flow-keys" by="search" text={flowControlKey} />
              ),
            ],
            ["Dead letter", run.dlqId !== undefined && <code>{shown(run.dlqId)}</code>],
            ["Invoked by", invoker && <RunId id={invoker.workflowRunId} />],
            [
              "Invoked runs",
              children.length > 0 &&
                children.map((child, nth) => (
                  <span key={child}>
                    {nth > 0 && ", "}
                    <RunId id={child} />
                  </span>
                )),
            ],
            [
              "Failure function",
              failureFunction && (
                <>
                  {functionStates[failureFunction.state]}{" "}
                  <code className="muted">{shown(failureFunction.messageId)}</code>
                </>
              ),
            ],
            ["Caller's address", shown(run.workflowRunCallerIp)],
          ]}
        />
      </Inside>
    </Panel>
  );
}

const functionStates = {
  CALLBACK_INPROGRESS: "being called",
  CALLBACK_SUCCESS: "called",
  CALLBACK_FAIL: "failed",
  CALLBACK_CANCELED: "cancelled",
} as const satisfies Readonly<Record<NonNullable<Run["failureFunction"]>["state"], string>>;

/** Links to the views, and keeps the chosen step. */
function Views({ id, search }: { readonly id: string; readonly search: URLSearchParams }) {
  const view = search.get("view") ?? "";
  const rest = [...search].filter(([name]) => name !== "view");
  const at = (name: string): string =>
    new URLSearchParams(name === "" ? rest : [...rest, ["view", name]]).toString();
  const views = [
    ["", "Steps"],
    ["graph", "Graph"],
  ] as const;
  return (
    <nav className="tabs" aria-label="Views of the run">
      {views.map(([name, title]) => (
        <a
          key={name}
          href={`#/runs/${part(id)}?${at(name)}`}
          aria-current={view === name ? "true" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

function View({ run }: { readonly run: Run }) {
  const [search, , adjust] = useSearch();
  const chosen = search.get("step") ?? undefined;
  const choose = (key: string | undefined): void => adjust(new Map(search).set("step", key ?? ""));
  const waterfall = waterfallOf(run, Date.now());
  const row = waterfall.rows.find(({ key }) => key === chosen);
  return (
    <div className={row === undefined ? "run-view" : "run-view with-step"}>
      {search.get("view") === "graph" ? (
        <Suspense fallback={<p role="status">Loading the graph…</p>}>
          <Graph run={run} chosen={chosen} choose={choose} />
        </Suspense>
      ) : (
        <Steps waterfall={waterfall} chosen={chosen} choose={choose} />
      )}
      {row !== undefined && (
        <StepDetails key={row.key} run={run} row={row} close={() => choose(undefined)} />
      )}
    </div>
  );
}
