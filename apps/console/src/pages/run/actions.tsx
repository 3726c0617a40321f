/** What may be done with a run: one that goes on is cancelled, one that failed is begun again or gone on with. */
import { type Run } from "@posthaste/client/api";
import { part } from "../../address.ts";
import { Action } from "../../parts/action.tsx";

export function RunActions({ run }: { readonly run: Run }) {
  const { dlqId, workflowRunId: id, workflowState } = run;
  if (workflowState === "RUN_STARTED")
    return <Action does="Cancel" to={id} asked={{ id: "endRun", params: [id] }} isFinal />;
  if (dlqId === undefined) return null;
  const leaveTo = ({ workflowRunId }: { readonly workflowRunId: string }): string =>
    `/runs/${part(workflowRunId)}`;
  return (
    <>
      <Action
        does="Resume"
        to={id}
        asked={{ id: "resumeRun", params: [dlqId] }}
        leaveTo={leaveTo}
      />
      <Action
        does="Restart"
        to={id}
        asked={{ id: "restartRun", params: [dlqId] }}
        leaveTo={leaveTo}
      />
    </>
  );
}
