/** `/v2/wait`, `/v2/notify` and `/v2/waiters`. */
import { parsePublish, type WaitBody, type waits } from "@posthaste/contract";
import { fault, groupedHeaders, isFault, runId } from "@posthaste/domain";
import { type Notified, notify, notifyRun, placeWait, waitersOf } from "@posthaste/engine";
import { type PublishParts } from "./publish.ts";
import { type Works } from "./work.ts";

export type WaitParts = Pick<PublishParts, "accept" | "judge">;

export const waitWorks = ({ accept: ports, judge }: WaitParts): Works<keyof typeof waits> => ({
  waitForEvent: async ({ tenant, callerIp, rawHeaders, param, body }) => {
    const command = parsePublish({
      ...judge(tenant, callerIp),
      rawHeaders,
      destination: { kind: "url", url: body.url },
      body: new TextEncoder().encode(JSON.stringify(body.step)),
    });
    if (isFault(command))
      return command.fault === "malformed" ? { ...command, fault: "run_refused" } : command;
    if (command.run?.kind !== "entry" || command.run.key.role !== "result")
      return fault("run_refused", "step: must be one of a run, which the headers name");
    const wait = { command, event: param("eventId"), ...waitOf(body, rawHeaders) };
    return (await placeWait(ports, wait)) ?? { status: 200 };
  },
  notifyEvent: async ({ tenant, param, body }) => ({
    status: 200,
    json: (await notify(ports, tenant.id, param("eventId"), body)).map(notifiedJson),
  }),
  notifyRun: async ({ tenant, param, body }) => {
    const address = { tenant: tenant.id, id: runId(param("runId")) };
    const notified = await notifyRun(ports, address, param("eventId"), body, true);
    // Told inside a step, a 400 would read as the end of that step's run.
    if (notified === "full") return tooManyEvents;
    return { status: 200, json: notified === "unknown" ? [] : notified.map(notifiedJson) };
  },
  listWaiters: async ({ tenant, param }) => ({
    status: 200,
    json: (await waitersOf(ports, tenant.id, param("eventId"))).map((waiter) => waiterJson(waiter)),
  }),
});

export const tooManyEvents = fault(
  "too_many_requests",
  "too many events wait to be taken by this run",
);

function waitOf({ step, timeoutMs, url, ...told }: WaitBody, rawHeaders: readonly string[]) {
  const pairs = rawHeaders.flatMap((name, i): [string, string][] =>
    i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ""]] : [],
  );
  const shown = pairs.filter(([name]) => name.toLowerCase() !== "authorization");
  return { step, timeoutMs, waiter: { url, headers: groupedHeaders(shown), ...told } };
}

const notifiedJson = ({ messageId, run: { createdAt, id }, waiter }: Notified) => ({
  waiter: waiterJson(waiter),
  messageId,
  workflowRunId: id,
  workflowCreatedAt: createdAt,
});

const waiterJson = ({
  deadline,
  headers,
  timeoutHeaders,
  timeoutUrl,
  url,
}: Notified["waiter"]) => ({
  url,
  headers: copied(headers),
  deadline,
  ...(timeoutUrl !== undefined && { timeoutUrl }),
  ...(timeoutHeaders && { timeoutHeaders: copied(timeoutHeaders) }),
});

const copied = (headers: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]]));
