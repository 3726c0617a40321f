/** How each kind of thing is found by its id, and where it is shown. */
import { part } from "../address.ts";
import { type Kind, type Lookup } from "../rules/resolve-id.ts";
import { isPassing } from "./asked.ts";
import { call, Refused } from "./call.ts";

export function lookupsOf(authorization: string): Readonly<Record<Kind, Lookup>> {
  const one = { count: 1, trimBody: 0 };
  const looks: Readonly<Record<Kind, Lookup>> = {
    message: async (id) => {
      const query = { ...one, messageId: id };
      const { events } = await call(authorization, { id: "listEvents", query });
      return events.length > 0 ? `/messages/${part(id)}` : undefined;
    },
    run: async (id) => {
      // A delivery of a run has the id of a message; its run is known by it.
      const query = {
        ...{ count: 1, steps: "none" },
        ...(id.startsWith("msg_") ? { messageId: id } : { workflowRunId: id }),
      };
      const { runs } = await call(authorization, { id: "listRunLogs", query });
      return runs[0] && `/runs/${part(runs[0].workflowRunId)}`;
    },
    letter: async (id) => {
      const query = { ...one, dlqIds: id };
      const { messages } = await call(authorization, { id: "listDeadLetters", query });
      if (messages.length > 0) return `/dead-letters/${part(id)}`;
      const failed = { count: 1, dlqIds: id };
      const { messages: runs } = await call(authorization, { id: "listFailedRuns", query: failed });
      return runs[0] && `/runs/${part(runs[0].workflowRunId)}`;
    },
    schedule: async (id) => {
      await call(authorization, { id: "readSchedule", params: [id] });
      return `/schedules/${part(id)}`;
    },
    "bulk action": async (id) => {
      await call(authorization, { id: "readBulkAction", params: [id] });
      return `/bulk-actions/${part(id)}`;
    },
  };
  const tolerant =
    (look: Lookup): Lookup =>
    (id) =>
      orNothing(look(id));
  return {
    message: tolerant(looks.message),
    run: tolerant(looks.run),
    letter: tolerant(looks.letter),
    schedule: tolerant(looks.schedule),
    "bulk action": tolerant(looks["bulk action"]),
  };
}

/** What an id is not is answered with 400 or 404. */
async function orNothing<T>(looked: Promise<T>): Promise<T | undefined> {
  try {
    return await looked;
  } catch (reason) {
    if (reason instanceof Refused && !isPassing(reason) && reason.status !== 401) return undefined;
    throw reason;
  }
}
