/**
 * What ends waits: an event, or the time that is up, gives the step its result. Head and parts are read before the change,
 * which decides again where the head has other waits by then.
 *
 * (1) One change ends as many waits as their results may be held in memory at once.
 * (2) An event ends no wait that its history has no room for, and says so; a time that is up is always told.
 */
import {
  bytesOfEntry,
  isActive,
  limits,
  noted,
  overdueWaits,
  partOf,
  type Run,
  type RunIn,
  runMessageId,
  type TenantId,
  type Wait,
  waitsFor,
} from "@posthaste/domain";
import { type Decision } from "@posthaste/ports";
import { tooLong } from "./append.ts";
import { Deliveries } from "./deliveries.ts";
import {
  partsOf,
  type RunRef,
  runsWaiting,
  tooMany,
  triesMax,
  type Waiter,
  type WaitPart,
  type WaitPorts,
} from "./kept-waits.ts";
import { base64, type EndedStep, hasRoomFor, jsonBytes, resultsOf } from "./results.ts";

/** What one wait has come to. `error`: it goes on. */
export type Notified = {
  readonly waiter: Waiter;
  readonly run: Run;
} & ({ readonly messageId: Run["root"] } | { readonly error: string });

/** All waits of the tenant for the event, some runs at a time. */
export async function* notify(
  ports: WaitPorts,
  tenant: TenantId,
  event: string,
  body: Uint8Array,
): AsyncGenerator<readonly Notified[], void, undefined> {
  // Each makes a copy of the event.
  const fitting = Math.floor(limits.readBytesMax / (body.length + 1));
  const runsMax = Math.max(1, Math.min(runsAtOnce, fitting));
  for await (const page of runsWaiting(ports, tenant, event, runsMax)) {
    const done = await Promise.all(page.map((run) => notifyRun(ports, run, event, body, false)));
    yield done.flatMap((each) => (typeof each === "string" ? [] : each));
  }
}

const runsAtOnce = 100;

/** With `notes`, an event that nothing waits for yet is kept for the next wait. */
export const notifyRun = (
  ports: WaitPorts,
  run: RunRef,
  event: string,
  body: Uint8Array,
  notes: boolean,
): Promise<readonly Notified[] | "unknown" | "full"> =>
  endWaits(ports, run, {
    chosen: (seen) => waitsFor(seen, event),
    said: () => ({ waitEventId: event, out: base64(body) }),
    bytes: body.length + 1,
    fits: hasRoomFor,
    otherwise: (seen) => {
      if (!notes) return { verdict: [] };
      const part = { name: `n${seen.version}`, at: ports.clock.now(), body };
      const next = noted(seen, { event, part: part.name });
      if (!next) return { verdict: "full" };
      return { verdict: [], write: { run: next, parts: [part], deliveries: [] }, intake: "new" };
    },
  });

/** The time of some of its waits is up. */
export const timeOutWaits = (ports: WaitPorts, run: RunRef): Promise<unknown> =>
  endWaits(ports, run, {
    chosen: (seen) => overdueWaits(seen, ports.clock.now()),
    said: ({ event }) => ({ waitEventId: event, waitTimeout: true }),
    bytes: 1,
    fits: () => true,
    otherwise: () => ({ verdict: [] }),
  });

type Ending = {
  readonly chosen: (run: Run) => readonly Wait[];
  /** Beside what the step says of itself. */
  readonly said: (wait: Wait) => Readonly<Record<string, unknown>>;
  /** Of what is said, in each result. */
  readonly bytes: number;
  readonly fits: (run: Pick<Run, "bytes">, body: Uint8Array) => boolean;
  /** Where nothing is chosen. */
  readonly otherwise: (run: RunIn<"active">) => Decision<Done>;
};

type Done = readonly Notified[] | "again" | "full" | "unknown";

const waitsAtOnce = 100;

async function endWaits(
  ports: WaitPorts,
  ref: RunRef,
  ending: Ending,
): Promise<Exclude<Done, "again">> {
  const ended: Notified[] = [];
  const atOnce = Math.max(1, Math.min(waitsAtOnce, Math.floor(limits.readBytesMax / ending.bytes)));
  /** Of those that were there at first: a run that waits again by then waits for another event. */
  let left: ReadonlySet<number> | undefined;
  let tries = 0;
  while (tries < triesMax) {
    const seen = await ports.runs.get(ref);
    if (!seen || !isActive(seen)) return ended.length > 0 ? ended : "unknown";
    const waits = ending.chosen(seen).filter(({ step }) => left?.has(step) ?? true);
    if (left && waits.length === 0) return ended;
    const done = await endSome(ports, seen, waits.slice(0, atOnce), left ? noMore(ending) : ending);
    if (done === "again") {
      tries += 1;
      continue;
    }
    if (typeof done === "string") return ended.length > 0 ? ended : done;
    ended.push(...done);
    left = new Set(waits.slice(atOnce).map(({ step }) => step));
    if (left.size === 0) return ended;
    tries = 0;
  }
  throw tooMany();
}

/** An event that has ended a wait is not noted as well. */
const noMore = (ending: Ending): Ending => ({ ...ending, otherwise: () => ({ verdict: [] }) });

async function endSome(
  ports: WaitPorts,
  seen: Run,
  some: readonly Wait[],
  { chosen, fits, otherwise, said }: Ending,
): Promise<Done> {
  const kept = await partsOf(ports, seen, some);
  const urls = [...kept.values()].map(({ delivery: { url } }) => url);
  const deliveries = new Deliveries(ports, seen.tenant, urls);
  const done = await deliveries.within(() =>
    ports.runs.change<Done>(seen, (run) => {
      if (!isActive(run)) return { verdict: "unknown" };
      const now = ports.clock.now();
      const waits = chosen(run);
      if (waits.length === 0) return otherwise(run);
      const ended: (EndedStep & Pick<WaitPart, "waiter">)[] = [];
      const refused: Waiter[] = [];
      let { bytes } = run;
      for (const wait of waits) {
        const part = kept.get(wait.step);
        if (!part) continue;
        const { delivery, step, waiter } = part;
        const body = jsonBytes({ ...step, ...said(wait) });
        if (fits({ bytes }, body)) {
          ended.push({ step: wait.step, body, delivery: { ...delivery, notBefore: now }, waiter });
          bytes += bytesOfEntry(body);
        } else refused.push(waiter);
      }
      if (ended.length + refused.length === 0) return { verdict: "again" };
      const going = refused.map((waiter) => ({ waiter, run, error: tooLong.text }));
      if (ended.length === 0) return { verdict: going };
      return resultsOf(run, ended, deliveries, now, (next) => [
        ...ended.map(({ step, waiter }) => {
          const messageId = runMessageId(next.root, partOf({ role: "result", step }));
          return { waiter, messageId, run: next };
        }),
        ...going,
      ]);
    }),
  );
  if (Array.isArray(done) && done.some((each) => "messageId" in each)) deliveries.begin();
  else deliveries.drop();
  return done ?? "unknown";
}
