/** Finds each kind of thing by its id or name, and returns its page. */
import { part } from "../address.ts";
import { type Found, matching, placesOfUrl } from "../rules/found.ts";
import { type Kind, type Lookup, resolveId } from "../rules/resolve-id.ts";
import { isPassing } from "./asked.ts";
import { call, Refused } from "./call.ts";
import { failureOf } from "./past-letter.ts";

/** Calls `tell` with results as they come. An id is the most exact match, so the first results are the thing with that id, if any. */
export async function search(
  session: string,
  text: string,
  tell: (found: readonly Found[]) => void,
): Promise<void> {
  const lookups = lookupsOf(session);
  const id = await resolveId(text, (kind) => orNothing(lookups[kind](text)));
  tell(id === undefined ? [] : [{ what: words[id.kind], title: text, to: id.to }]);
  tell(placesOfUrl(text));
  const searches = searchesOf(session, text).map(async (found) => {
    tell((await orNothing(found)) ?? []);
  });
  await Promise.all(searches);
}

const words = {
  message: "Message",
  run: "Run",
  letter: "Dead letter",
  schedule: "Schedule",
  "bulk action": "Bulk action",
} as const satisfies Readonly<Record<Kind, string>>;

const schedulesMax = 1_000;

function searchesOf(session: string, text: string): readonly Promise<readonly Found[]>[] {
  const labelled = new URLSearchParams({ label: text }).toString();
  const named = async (
    what: string,
    path: string,
    listed: Promise<readonly { readonly name: string }[]>,
  ): Promise<readonly Found[]> => {
    const found = (await listed).map(({ name: title }) => ({
      what,
      title,
      to: `${path}/${part(title)}`,
    }));
    return matching(found, text);
  };
  const label = async (): Promise<readonly Found[]> => {
    const query = { label: text, count: 1, trimBody: 0 };
    const { events } = await call(session, { id: "listEvents", query });
    if (events.length === 0) return [];
    return [{ what: "Label", title: `messages with ${text}`, to: `/messages?${labelled}` }];
  };
  const runLabel = async (): Promise<readonly Found[]> => {
    const query = { label: text, count: 1, steps: "none" };
    const { runs } = await call(session, { id: "listRunLogs", query });
    if (runs.length === 0) return [];
    return [{ what: "Label", title: `runs with ${text}`, to: `/runs?${labelled}` }];
  };
  const keys = async (): Promise<readonly Found[]> => {
    const all = await call(session, { id: "listFlowKeys", query: { search: text } });
    const found = all.map(({ flowControlKey: title }) => ({
      what: "Flow key",
      title,
      to: `/flow-keys?${new URLSearchParams({ search: title }).toString()}`,
    }));
    return matching(found, text);
  };
  const schedules = async (): Promise<readonly Found[]> => {
    const all = await call(session, { id: "listSchedules", query: { count: schedulesMax } });
    const found = all.map(({ scheduleId, destination }) => ({
      what: "Schedule",
      title: `${scheduleId} to ${destination}`,
      to: `/schedules/${part(scheduleId)}`,
    }));
    return matching(found, text);
  };
  return [
    label(),
    runLabel(),
    named("Queue", "/queues", call(session, { id: "listQueues" })),
    named("Group", "/groups", call(session, { id: "listGroups" })),
    keys(),
    schedules(),
  ];
}

function lookupsOf(session: string): Readonly<Record<Kind, Lookup>> {
  const one = { count: 1, trimBody: 0 };
  return {
    message: async (id) => {
      const query = { ...one, messageId: id };
      const { events } = await call(session, { id: "listEvents", query });
      return events.length > 0 ? `/messages/${part(id)}` : undefined;
    },
    run: async (id) => {
      // The run's delivery has a message id, which leads to the run. Callers name a run without the prefix.
      const names = id.startsWith("msg_")
        ? [{ messageId: id }]
        : [{ workflowRunId: id }, { workflowRunId: `wfr_${id}` }];
      for (const name of names) {
        const query = { count: 1, steps: "none", ...name };
        const { runs } = await call(session, { id: "listRunLogs", query });
        if (runs[0]) return `/runs/${part(runs[0].workflowRunId)}`;
      }
      return undefined;
    },
    letter: async (id) => {
      const query = { ...one, dlqIds: id };
      const { messages } = await call(session, { id: "listDeadLetters", query });
      if (messages.length > 0) return `/dead-letters/${part(id)}`;
      const failed = { count: 1, dlqIds: id };
      const { messages: runs } = await call(session, { id: "listFailedRuns", query: failed });
      if (runs[0]) return `/runs/${part(runs[0].workflowRunId)}`;
      // A letter that was retried or removed has a page that says so.
      return (await failureOf(session, id)) && `/dead-letters/${part(id)}`;
    },
    schedule: async (id) => {
      await call(session, { id: "readSchedule", params: [id] });
      return `/schedules/${part(id)}`;
    },
    "bulk action": async (id) => {
      await call(session, { id: "readBulkAction", params: [id] });
      return `/bulk-actions/${part(id)}`;
    },
  };
}

/** Returns undefined for 400 and 404, the answers to an id of another kind. */
async function orNothing<T>(looked: Promise<T>): Promise<T | undefined> {
  try {
    return await looked;
  } catch (reason) {
    if (reason instanceof Refused && !isPassing(reason) && reason.status !== 401) return undefined;
    throw reason;
  }
}
