import { type Run } from "@posthaste/client/api";
import { call, Refused } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { Bulk, type Verb } from "../parts/bulk.tsx";
import { perCallMax, placesOf, walk } from "../rules/bulk.ts";

/** A hundred thousand runs. The rest is left for the next time. */
const pagesMax = 1_000;

type Props = {
  readonly filters: Readonly<Record<string, string>>;
  readonly isEmpty: boolean;
};

export function BulkOfRuns({ filters: { cursor: _, ...filters }, isEmpty }: Props) {
  const { mayWrite } = useSession();
  const verbs = verbsOf(filters["state"], mayWrite);
  if (verbs === undefined) return null;
  const hasFailed = filters["state"] === "RUN_FAILED";
  return (
    <Bulk<Run>
      verbs={verbs}
      thing="run"
      isEmpty={isEmpty}
      idOf={({ dlqId, workflowRunId }) => (hasFailed ? (dlqId ?? "") : workflowRunId)}
      groupsOf={placesOf(({ workflowUrl }) => workflowUrl)}
      find={(session, told, signal) =>
        walk(
          async (cursor) => {
            const query = { ...filters, count: perCallMax, steps: "none" };
            const paged = { ...query, ...(cursor !== undefined && { cursor }) };
            const page = await call(session, { id: "listRunLogs", query: paged }, signal);
            return { items: page.runs, cursor: page.cursor };
          },
          ({ dlqId }) => !hasFailed || dlqId !== undefined,
          { pages: pagesMax, found: Infinity },
          { told },
        )
      }
    />
  );
}

function verbsOf(state: string | undefined, mayWrite: boolean): readonly Verb[] | undefined {
  // Both verbs remove dead letters, for which the right to act is not enough.
  if (state === "RUN_FAILED") return mayWrite ? again : undefined;
  return state === "RUN_STARTED" ? [cancel] : undefined;
}

/** One call a run, so that a refusal leaves known which were restarted. */
const again: readonly Verb[] = (
  [
    ["Restart", "restarted", "restartRun"],
    ["Resume", "resumed", "resumeRun"],
  ] as const
).map(([does, past, id]) => ({
  does,
  past,
  says: "The dead letters of these runs are removed, so that no run is taken twice.",
  perCallMax: 1,
  take: async (session, [dlqId = ""], signal) => {
    const begun = await unlessGone(call(session, { id, params: [dlqId] }, signal));
    if (begun === undefined) return 0;
    await unlessGone(call(session, { id: "removeFailedRun", params: [dlqId] }));
    return 1;
  },
}));

const cancel: Verb = {
  does: "Cancel",
  past: "cancelled",
  isFinal: true,
  says: "No further steps of these runs are called.",
  perCallMax,
  take: async (session, ids, signal) => {
    const body = { workflowRunIds: [...ids] };
    return (await call(session, { id: "cancelRuns", body }, signal)).cancelled;
  },
};

async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (reason) {
    if (reason instanceof Refused && reason.status === 404) return undefined;
    throw reason;
  }
}
