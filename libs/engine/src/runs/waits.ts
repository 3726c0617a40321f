/**
 * Waits: a run waits for an event, and an event, or the time that is up, gives the step its result. Head and parts are read
 * before the change, which decides again where the head has other waits by then.
 */
import {
  awaiting,
  type EntryDelivery,
  fault,
  type Fault,
  type InRun,
  isActive,
  isFault,
  noted,
  oldestNote,
  overdueWaits,
  partOf,
  type PublishCommand,
  type Run,
  type RunId,
  type RunIn,
  runMessageId,
  type RunPart,
  type TenantId,
  type Wait,
  waitsFor,
  withoutNote,
} from "@posthaste/domain";
import { type Decision, type RunAddress, StoreError } from "@posthaste/ports";
import { type DeliveryPorts } from "./deliveries.ts";
import { addressOf, isEntry, runEnded, urlOf } from "./append.ts";
import { Deliveries } from "./deliveries.ts";
import { base64, jsonBytes, partJson, resultsOf, type StepJson } from "./results.ts";
import { type RunPorts } from "./start.ts";

/** What a client is told of a waiter. Times in Unix seconds. */
export type Waiter = {
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly deadline: number;
  readonly timeoutUrl?: string;
  readonly timeoutHeaders?: Readonly<Record<string, readonly string[]>>;
};

export type WaitCommand = {
  /** Of the step whose result the event becomes: delivered as this would be. */
  readonly command: PublishCommand;
  readonly event: string;
  readonly timeoutMs: number;
  readonly step: StepJson;
  readonly waiter: Omit<Waiter, "deadline">;
};

/** What a wait keeps until it ends. */
type WaitPart = {
  readonly delivery: EntryDelivery;
  readonly step: StepJson;
  readonly waiter: Waiter;
};

type WaitPorts = DeliveryPorts & Pick<RunPorts, "runs">;
type RunRef = RunAddress | Pick<InRun, "key" | "root">;

/** So many other changes may come between looking and writing. */
const triesMax = 50;

const partName = (step: number): string => `w${step}`;

/** Undefined: the run waits, or did; twice is once. */
export async function placeWait(
  ports: RunPorts,
  { command, event, step, timeoutMs, waiter }: WaitCommand,
): Promise<Fault | undefined> {
  if (!isEntry(command)) return fault("internal", "a wait is of a step");
  const { key } = command.run;
  const address = addressOf(command);
  for (let tries = 0; tries < triesMax; tries++) {
    const seen = await ports.runs.get(address);
    if (!seen || !isActive(seen)) return runEnded();
    const note = oldestNote(seen, event);
    const given = note && (await ports.runs.part(seen, note.part));
    const deliveries = new Deliveries(ports, command.tenant, [urlOf(command)]);
    const placed = await deliveries.within(() =>
      ports.runs.change(address, (run): Decision<Placed> => {
        if (!isActive(run)) return { verdict: runEnded() };
        if (oldestNote(run, event)?.part !== note?.part) return { verdict: "again" };
        const now = ports.clock.now();
        const deadline = now + timeoutMs;
        const waiting = awaiting(run, { kind: "wait", step: key.step, event, deadline });
        if (!waiting) return { verdict: "known" };
        const delivery = { ...deliveryOf(command), notBefore: now };
        if (note && given) {
          const out = { waitEventId: event, out: base64(given.body) };
          const ended = { step: key.step, body: jsonBytes({ ...step, ...out }), delivery };
          return resultsOf(withoutNote(run, note.part), [ended], deliveries, now, () => "waits");
        }
        const kept = { ...waiter, deadline: Math.ceil(deadline / 1_000) };
        const part: WaitPart = { delivery, step, waiter: kept };
        const parts = [{ name: partName(key.step), at: now, body: jsonBytes(part) }];
        return { verdict: "waits", write: { run: waiting, parts, deliveries: [] } };
      }),
    );
    if (placed === "waits") deliveries.begin();
    else deliveries.drop();
    if (placed === "again") continue;
    if (placed === undefined) return runEnded();
    if (isFault(placed)) return placed;
    const at = ports.clock.now() + timeoutMs;
    ports.bus.publish("scheduler.wake", [{ shard: seen.shard, at }]).catch(() => undefined);
    return undefined;
  }
  throw tooMany();
}

type Placed = Fault | "again" | "known" | "waits";

const tooMany = () => new StoreError("overloaded", "too many change the same run at once");

const deliveryOf = ({
  callerIp,
  destination,
  headers,
  hop,
  method,
  policy,
}: PublishCommand): Omit<EntryDelivery, "notBefore"> => ({
  url: destination.kind === "url" ? destination.url : "",
  ...{ callerIp, headers, hop, method, policy },
});

/** What one wait has come to. */
export type Notified = {
  readonly waiter: Waiter;
  readonly messageId: Run["root"];
  readonly run: Run;
};

/** All waits of the tenant for the event. */
export async function notify(
  ports: WaitPorts,
  tenant: TenantId,
  event: string,
  body: Uint8Array,
): Promise<readonly Notified[]> {
  const notified: Notified[] = [];
  let after: string | undefined;
  // Each page begins after the last run of the one before.
  for (;;) {
    const page = await ports.runs.waiting(tenant, event, after, runsAtOnce);
    const done = await Promise.all(page.map((run) => notifyRun(ports, run, event, body, false)));
    notified.push(...done.flatMap((each) => (typeof each === "string" ? [] : each)));
    const last = page.at(-1);
    if (!last || page.length < runsAtOnce) return notified;
    after = last.key;
  }
}

const runsAtOnce = 100;

/** With `notes`, an event that nothing waits for yet is kept for the next wait. */
export async function notifyRun(
  ports: WaitPorts,
  run: RunRef,
  event: string,
  body: Uint8Array,
  notes: boolean,
): Promise<readonly Notified[] | "unknown" | "full"> {
  const out = { waitEventId: event, out: base64(body) };
  return settleWaits(
    ports,
    run,
    (seen) => waitsFor(seen, event),
    out,
    (seen, now): Decision<"full" | readonly Notified[]> => {
      if (!notes) return { verdict: [] };
      const part = { name: `n${seen.version}`, at: now, body };
      const next = noted(seen, { event, part: part.name });
      if (!next) return { verdict: "full" };
      return { verdict: [], write: { run: next, parts: [part], deliveries: [] } };
    },
  );
}

/** The time of some of its waits is up. */
export const timeOutWaits = (ports: WaitPorts, run: RunRef): Promise<unknown> =>
  settleWaits(
    ports,
    run,
    (seen) => overdueWaits(seen, ports.clock.now()),
    { waitTimeout: true },
    () => ({ verdict: [] }),
  );

async function settleWaits<V extends string>(
  ports: WaitPorts,
  ref: RunRef,
  chosen: (run: Run) => readonly Wait[],
  said: Readonly<Record<string, unknown>>,
  otherwise: (run: RunIn<"active">, now: number) => Decision<V | readonly Notified[]>,
): Promise<readonly Notified[] | V | "unknown"> {
  for (let tries = 0; tries < triesMax; tries++) {
    const seen = await ports.runs.get(ref);
    if (!seen || !isActive(seen)) return "unknown";
    const kept = await partsOf(ports, seen, chosen(seen));
    const deliveries = new Deliveries(
      ports,
      seen.tenant,
      [...kept.values()].map(({ delivery: { url } }) => url),
    );
    const settled = await deliveries.within(() =>
      ports.runs.change<V | readonly Notified[] | "unknown" | "again">(ref, (run) => {
        if (!isActive(run)) return { verdict: "unknown" };
        const now = ports.clock.now();
        const waits = chosen(run);
        if (waits.length === 0) return otherwise(run, now);
        if (waits.some(({ step }) => !kept.has(step))) return { verdict: "again" };
        const ended = waits.flatMap((wait) => {
          const part = kept.get(wait.step);
          if (!part) return [];
          const eventId = "waitTimeout" in said ? { waitEventId: wait.event } : {};
          const body = jsonBytes({ ...part.step, ...eventId, ...said });
          return { step: wait.step, body, delivery: { ...part.delivery, notBefore: now }, part };
        });
        return resultsOf(run, ended, deliveries, now, (next) =>
          ended.map(({ part: { waiter }, step }) => ({
            waiter,
            messageId: runMessageId(next.root, partOf({ role: "result", step })),
            run: next,
          })),
        );
      }),
    );
    if (Array.isArray(settled) && settled.length > 0) deliveries.begin();
    else deliveries.drop();
    if (settled !== "again") return settled ?? "unknown";
  }
  throw tooMany();
}

async function partsOf(
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

/** A wait of a failed run as the run has it that goes on from there: with all of its time before it. */
export type RenewedWait = {
  readonly step: number;
  readonly deadline: number;
  readonly part: RunPart;
};

/** `id`: of the run that goes on. Undefined: what they kept was swept. */
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
    const deadline = now + pending.deadline - part.at;
    const headers = withRunId(waiter.headers, id);
    const timeoutHeaders = waiter.timeoutHeaders && withRunId(waiter.timeoutHeaders, id);
    const body = jsonBytes({
      ...kept,
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

/** What waits for the event. */
export async function waitersOf(
  ports: Pick<RunPorts, "runs"> & WaitPorts,
  tenant: TenantId,
  event: string,
): Promise<readonly Waiter[]> {
  const waiters: Waiter[] = [];
  for (const ref of await ports.runs.waiting(tenant, event, undefined, waitersMax)) {
    const run = await ports.runs.get(ref);
    if (!run) continue;
    const kept = await partsOf(ports, run, waitsFor(run, event));
    waiters.push(...[...kept.values()].map(({ waiter }) => waiter));
  }
  return waiters;
}

const waitersMax = 1_000;
