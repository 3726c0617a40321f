/** One run: where it stands, and its steps on a scale of time or as a graph. */
import { type Run } from "@posthaste/client/api";
import { lazy, Suspense } from "react";
import { part, useLastPart, useSearch } from "../../address.ts";
import { useAsked } from "../../api/asked.ts";
import { durationOf, shown } from "../../api/text.ts";
import { Facts } from "../../parts/facts.tsx";
import { Page } from "../../parts/page.tsx";
import { RunId, Time } from "../../parts/text.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { waterfallOf } from "../../rules/waterfall.ts";
import { RunState } from "../states.tsx";
import { RunActions } from "./actions.tsx";
import { StepDetails } from "./step-details.tsx";
import { Steps } from "./steps.tsx";

/** It is large, and for those that look at it. */
const Graph = lazy(() => import("./graph.tsx").then(({ RunGraph }) => ({ default: RunGraph })));

export function RunPage() {
  const id = useLastPart();
  const [search] = useSearch();
  const { data, error } = useAsked(
    { id: "listRunLogs", query: { workflowRunId: id, count: 1 } },
    { fresh: "often" },
  );
  const run = data?.runs[0];
  return (
    <Page title={`Run ${shown(id)}`} actions={run && <RunActions run={run} />}>
      <Trouble error={error} isStale={data !== undefined} />
      {data !== undefined && run === undefined && <p>There is no run of this id.</p>}
      {run !== undefined && (
        <>
          <Standing run={run} />
          <Views id={id} view={search.get("view") ?? ""} />
          <View run={run} />
        </>
      )}
    </Page>
  );
}

function Standing({ run }: { readonly run: Run }) {
  const { failureFunction, invoker, workflowRunCompletedAt: endedAt } = run;
  return (
    <Facts
      facts={[
        ["State", <RunState state={run.workflowState} />],
        ["Workflow", <span className="mono">{shown(run.workflowUrl, 2_000)}</span>],
        ["Started", <Time at={run.workflowRunCreatedAt} />],
        [
          "Ended",
          endedAt !== undefined && (
            <>
              <Time at={endedAt} /> after {durationOf(endedAt - run.workflowRunCreatedAt)}
            </>
          ),
        ],
        ["Labels", shown(run.labels?.join(", "))],
        ["Flow key", shown(run.flowControlKey)],
        ["Invoked by", invoker && <RunId id={invoker.workflowRunId} />],
        ["Failure function", failureFunction && functionStates[failureFunction.state]],
        ["Caller's address", shown(run.workflowRunCallerIp)],
      ]}
    />
  );
}

const functionStates = {
  CALLBACK_INPROGRESS: "being called",
  CALLBACK_SUCCESS: "was called",
  CALLBACK_FAIL: "has failed",
  CALLBACK_CANCELED: "cancelled",
} as const satisfies Readonly<Record<NonNullable<Run["failureFunction"]>["state"], string>>;

function Views({ id, view }: { readonly id: string; readonly view: string }) {
  const views = [
    ["", "Steps"],
    ["graph", "Graph"],
  ] as const;
  return (
    <nav className="tabs" aria-label="Views of the run">
      {views.map(([name, title]) => (
        <a
          key={name}
          href={`#/runs/${part(id)}${name === "" ? "" : `?view=${name}`}`}
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
