import { type Run } from "@posthaste/client/api";
import { part } from "../../address.ts";
import { Action } from "../../parts/action.tsx";

type Props = { readonly run: Run; readonly isSmall?: boolean };

export function RunActions({ run, isSmall = false }: Props) {
  const { dlqId, workflowRunId: id, workflowState } = run;
  if (workflowState === "RUN_STARTED")
    return (
      <Action
        does="Cancel"
        to={id}
        asked={{ id: "endRun", params: [id] }}
        isFinal
        isSmall={isSmall}
        says="No further steps of the run are called."
      />
    );
  if (dlqId === undefined) return null;
  const leaveTo = ({ workflowRunId }: { readonly workflowRunId: string }): string =>
    `/runs/${part(workflowRunId)}`;
  const shared = { to: id, leaveTo, isSmall };
  return (
    <>
      <Action does="Resume" asked={{ id: "resumeRun", params: [dlqId] }} {...shared} />
      <Action does="Restart" asked={{ id: "restartRun", params: [dlqId] }} {...shared} />
    </>
  );
}
