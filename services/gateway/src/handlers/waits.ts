import { parsePublish, waiterJson, type WaitBody, type waits } from "@posthaste/contract";
import {
  fault,
  type Fault,
  groupedHeaders,
  isFault,
  limits,
  type TenantId,
} from "@posthaste/domain";
import {
  type Notified,
  notify,
  notifyRun,
  placeWait,
  type RunPorts,
  runForEvent,
} from "@posthaste/engine";
import { listTexts } from "@posthaste/http";
import { type RunAddress } from "@posthaste/ports";
import { type PublishParts } from "./publish.ts";
import { type Reads } from "../reads.ts";
import { runAddress } from "./runs.ts";
import { type Handlers } from "./handler.ts";

export type WaitParts = RunPorts & Pick<PublishParts, "contextOf" | "reads">;

export const waitHandlers = (ports: WaitParts): Handlers<keyof typeof waits> => {
  const { contextOf, reads, sha256 } = ports;
  const notifiedJson = ({ waiter, run, ...outcome }: Notified) => ({
    waiter: waiterJson(waiter, run, sha256),
    ...outcome,
    workflowRunId: run.id,
    workflowCreatedAt: run.createdAt,
  });
  return {
    waitForEvent: async ({ tenant, callerIp, rawHeaders, param, body }) => {
      const event = param("eventId");
      if (event.length > limits.eventIdLengthMax) return eventIsTooLong;
      const command = parsePublish({
        ...contextOf(tenant, callerIp),
        rawHeaders,
        destination: { kind: "url", url: body.url },
        body: new TextEncoder().encode(JSON.stringify(body.step)),
      });
      if (isFault(command))
        return command.fault === "malformed" ? { ...command, fault: "run_refused" } : command;
      const { destination, run } = command;
      if (run?.kind !== "entry" || run.key.role !== "result" || destination.kind !== "url")
        return fault("run_refused", "step: must be a step of the run that the headers name");
      const wait = { command, event, ...waitOf({ ...body, url: destination.url }, rawHeaders) };
      return (await placeWait(ports, wait)) ?? { status: 200 };
    },
    notifyEvent: async ({ tenant, param, body }) => ({
      status: 200,
      json: await told(notify(ports, tenant.id, param("eventId"), body), notifiedJson),
    }),
    notifyRun: async ({ tenant, param, rawHeaders, body }) => {
      const [run, event] = [param("runId"), param("eventId")];
      const isNotable = event.length <= limits.eventIdLengthMax;
      const address = runAddress(tenant.id, run, rawHeaders);
      const notified = await notifyRun(ports, address, event, body, isNotable);
      if (notified === "full")
        return { status: 200, json: await refusedBy(address, tooManyEvents) };
      // An event's name may contain a slash: when the first part names no run, all of it is the name of an event.
      const ended =
        notified === "unknown" ? notify(ports, tenant.id, `${run}/${event}`, body) : [notified];
      return { status: 200, json: await told(ended, notifiedJson) };
    },
    listWaiters: async ({ tenant, param }) => ({
      status: 200,
      read: async (permit) => ({
        pieces: listTexts(waiterPages(reads(permit), tenant.id, param("eventId"))),
      }),
    }),
  };

  /** Reports the refusal in the answer, not as a fault: a step notifies, and a refused step would fail its run. */
  async function refusedBy(
    address: RunAddress,
    { text }: Fault,
  ): Promise<ReturnType<typeof notifiedJson>[]> {
    const run = await runForEvent(ports.runs, address);
    if (!run) return [];
    const waiter = { url: run.url, headers: {}, deadline: 0 };
    return [notifiedJson({ waiter, run, error: text })];
  }

  async function* waiterPages({ waiters }: Reads, tenant: TenantId, event: string) {
    for await (const page of waiters(tenant, event))
      yield page.map(({ run, waiter }) => waiterJson(waiter, run, sha256));
  }
};

/** The characters of a notify's answer beyond which no more waiters are held for it. */
const toldCharsMax = 1024 * 1024;

/** Ends all waits, however many, and returns the first ones. */
async function told<Json>(
  pages: AsyncIterable<readonly Notified[]> | Iterable<readonly Notified[]>,
  jsonOf: (notified: Notified) => Json,
): Promise<Json[]> {
  const shown: Json[] = [];
  let chars = 0;
  for await (const page of pages)
    for (const notified of page) {
      if (chars > toldCharsMax) break;
      const json = jsonOf(notified);
      chars += JSON.stringify(json).length;
      shown.push(json);
    }
  return shown;
}

const eventIsTooLong = fault(
  "run_refused",
  `eventId: must have at most ${limits.eventIdLengthMax} characters`,
);

export const tooManyEvents = fault("too_many_requests", "too many events wait for this run");

function waitOf({ step, timeoutMs, url, ...told }: WaitBody, rawHeaders: readonly string[]) {
  const pairs = rawHeaders.flatMap((name, i): [string, string][] =>
    i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ""]] : [],
  );
  const shown = pairs.filter(([name]) => name.toLowerCase() !== "authorization");
  return { step, timeoutMs, waiter: { url, headers: groupedHeaders(shown), ...told } };
}
