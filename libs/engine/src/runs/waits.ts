/**
 * Makes waits: a run waits for an event, unless such an event has already come for it. Reads the parts that waits keep
 * until they end, and the list of waiters for callers.
 */
import {
  awaiting,
  fault,
  type Fault,
  isActive,
  isFault,
  oldestNote,
  type PublishCommand,
  withHooks,
  withoutNote,
  type EntryDelivery,
  type PartName,
  pendingPart,
  type Run,
  type RunId,
  type RunIn,
  type RunPart,
  type RunRef,
  type TenantId,
  type Wait,
  waitsFor,
} from "@posthaste/domain";
import { type Decision, StoreError } from "@posthaste/ports";
import { wakeSchedulers } from "../publish/announce.ts";
import { isOfUseBefore, refusePending, runEnded, tooLong } from "./append.ts";
import {
  addressOf,
  deliveryFor,
  isRunCommand,
  Deliveries,
  decisionOfResults,
  fitsHistory,
  base64,
  jsonBytes,
  type StepJson,
  type DeliveryPorts,
  partJson,
} from "./deliveries.ts";
import { type RunPorts } from "./start.ts";

export type WaitCommand = {
  /** The publish of the step whose result is the event; the result is delivered as this publish would be. */
  readonly command: PublishCommand;
  readonly event: string;
  readonly timeoutMs: number;
  readonly step: StepJson;
  readonly waiter: Omit<Waiter, "deadline">;
};

/** Returns undefined when the run waits, or did. May be called again. */
export async function placeWait(
  ports: RunPorts,
  { command, event, step, timeoutMs, waiter }: WaitCommand,
): Promise<Fault | undefined> {
  if (!isRunCommand(command, "entry")) return fault("internal", "a wait is of a step");
  const { key } = command.run;
  const address = addressOf(command);
  const way = step["stepType"] === "WaitForWebhook" ? "webhook" : "told";
  for (let tries = 0; tries < triesMax; tries++) {
    const seen = await ports.runs.get(address);
    if (!seen || !isActive(seen) || isOfUseBefore(seen, address)) return runEnded();
    const note = oldestNote(seen, event, way);
    const given = note && (await ports.runs.part(seen, note.part));
    const deliveries = new Deliveries(ports, command.tenant, [command.destination.url]);
    const placed = await deliveries.change(address, (run): Decision<Placed> => {
      if (!isActive(run) || isOfUseBefore(run, address)) return { verdict: runEnded() };
      if (oldestNote(run, event, way)?.part !== note?.part) return { verdict: "again" };
      const now = ports.clock.now();
      const deadline = now + timeoutMs;
      const pending = { kind: "wait", step: key.step, event, by: way, deadline } as const;
      const next = awaiting(run, pending);
      const waiting = next && way === "webhook" ? withHooks(next, [event]) : next;
      if (!waiting) return { verdict: "known" };
      const refused = refusePending(waiting);
      if (refused) return { verdict: refused };
      const delivery = deliveryFor(command, now);
      const kept = { ...waiter, deadline: Math.ceil(deadline / 1_000) };
      const wait: WaitPart = { delivery, step, waiter: kept, deadline };
      const part = { name: partName(key.step), at: now, body: jsonBytes(wait) };
      if (note && given) {
        const out = { waitEventId: event, out: base64(given.body) };
        const ended = { step: key.step, body: jsonBytes({ ...step, ...out }), delivery };
        if (!fitsHistory(run, ended.body)) return { verdict: tooLong };
        const before = withoutNote(run, note.part);
        const { write } = decisionOfResults(before, [ended], deliveries, now, () => "waits");
        // The log shows how long each wait would have lasted.
        return { verdict: "waits", write: { ...write, parts: [part, ...write.parts] } };
      }
      return { verdict: "waits", write: { run: waiting, parts: [part], deliveries: [] } };
    });
    if (placed === "again") continue;
    if (placed === undefined) return runEnded();
    if (isFault(placed)) return placed;
    const at = ports.clock.now() + timeoutMs;
    wakeSchedulers(ports.bus, [{ shard: seen.shard, at, source: "run" }]);
    return undefined;
  }
  throw tooMany();
}

type Placed = Fault | "again" | "known" | "waits";

/** A waiter as clients see it. Times are in Unix seconds. */
export type Waiter = {
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly deadline: number;
  readonly timeoutUrl?: string;
  readonly timeoutBody?: string;
  readonly timeoutHeaders?: Readonly<Record<string, readonly string[]>>;
};

export type WaitPart = {
  readonly delivery: EntryDelivery;
  readonly step: StepJson;
  readonly waiter: Waiter;
  readonly deadline: number;
};

export type WaitPorts = DeliveryPorts & Pick<RunPorts, "runs">;

/** The number of other changes that may come between reading and writing. */
export const triesMax = 50;
export const tooMany = () =>
  new StoreError("overloaded", "too many calls change the same run at once");

const partName = (step: number): PartName => pendingPart({ kind: "wait", step });

export async function partsOf(
  { runs }: WaitPorts,
  run: Run,
  waits: readonly Wait[],
): Promise<ReadonlyMap<number, WaitPart>> {
  const kept = new Map<number, WaitPart>();
  for (const { step } of waits) {
    const part = await runs.part(run, partName(step));
    if (part) kept.set(step, partJson<WaitPart>(part));
  }
  return kept;
}

export async function* runsWaiting(
  { runs }: Pick<WaitPorts, "runs">,
  tenant: TenantId,
  event: string,
  runsMax: number,
): AsyncGenerator<readonly RunRef[], void, undefined> {
  let after: RunRef | undefined;
  // Each page begins after the last run of the one before.
  for (;;) {
    const page = await runs.waiting(tenant, event, after, runsMax);
    if (page.length > 0) yield page;
    after = page.at(-1);
    if (after === undefined || page.length < runsMax) return;
  }
}

/** Yields the waiters of the event with their runs: run by run, and some waits of a run at a time. */
export async function* waitersOf(
  ports: WaitPorts,
  tenant: TenantId,
  event: string,
): AsyncGenerator<readonly { readonly waiter: Waiter; readonly run: Run }[], void, undefined> {
  for await (const page of runsWaiting(ports, tenant, event, runsAtOnce))
    for (const ref of page) {
      const run = await ports.runs.get(ref);
      const waits = run ? waitsFor(run, event) : [];
      for (let from = 0; run && from < waits.length; from += waitersAtOnce) {
        const kept = await partsOf(ports, run, waits.slice(from, from + waitersAtOnce));
        yield [...kept.values()].map(({ waiter }) => ({ waiter, run }));
      }
    }
}

const runsAtOnce = 100;
const waitersAtOnce = 20;

/** A wait of a failed run as its resumed run has it, with all of its time ahead. */
export type RenewedWait = {
  readonly step: number;
  readonly deadline: number;
  readonly part: RunPart;
};

/** Renews the waits of a failed run. `id`: of the resumed run. Returns undefined when a part was swept. */
export async function renewedWaits(
  { clock, runs }: WaitPorts,
  failed: RunIn<"failed">,
  id: RunId,
): Promise<readonly RenewedWait[] | undefined> {
  const now = clock.now();
  const renewed: RenewedWait[] = [];
  for (const pending of failed.state.pending) {
    if (pending.kind !== "wait") continue;
    const { step } = pending;
    const part = await runs.part(failed, partName(step));
    if (!part) return undefined;
    const { waiter, ...kept } = partJson<WaitPart>(part);
    const deadline = now + (pending.deadline - part.at);
    const headers = withRunId(waiter.headers, id);
    const timeoutHeaders = waiter.timeoutHeaders && withRunId(waiter.timeoutHeaders, id);
    const body = jsonBytes({
      ...{ ...kept, deadline },
      waiter: {
        ...{ ...waiter, headers, deadline: Math.ceil(deadline / 1_000) },
        ...(timeoutHeaders && { timeoutHeaders }),
      },
    });
    renewed.push({ step, deadline, part: { name: part.name, at: now, body } });
  }
  return renewed;
}

type ShownHeaders = Waiter["headers"];
const withRunId = (headers: ShownHeaders, id: RunId): ShownHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [
      name,
      /-workflow-runid$/i.test(name) ? [id] : values,
    ]),
  );
