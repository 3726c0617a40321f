/**
 * Ends waits: an event, or a passed deadline, gives the step its result. Head and parts are read before the change,
 * which decides again if the head has other waits by then.
 *
 * (1) One change ends as many waits as may have their results in memory at once.
 * (2) An event that does not fit into the history ends no wait, and its answer says so; a passed deadline is always reported.
 */
import {
  bytesOfEntry,
  changedRun,
  type EventKeeper,
  type EventWay,
  isActive,
  isFailed,
  keepsEvents,
  limits,
  type Note,
  noted,
  overdueWaits,
  partOf,
  type Run,
  runMessageId,
  type RunPart,
  type RunRef,
  type TenantId,
  type Wait,
  waitsFor,
  withoutNote,
} from "@posthaste/domain";
import { type Decision, headAlone, type RunAddress, type RunStore } from "@posthaste/ports";
import { tooLong } from "./append.ts";
import {
  Deliveries,
  decisionOfResults,
  type EndedStep,
  fitsHistory,
  base64,
  jsonBytes,
} from "./deliveries.ts";
import {
  partsOf,
  runsWaiting,
  tooMany,
  triesMax,
  type Waiter,
  type WaitPart,
  type WaitPorts,
} from "./waits.ts";

/** The outcome of one wait. With `error` the wait continues. */
export type Notified = {
  readonly waiter: Waiter;
  readonly run: Run;
} & ({ readonly messageId: Run["root"] } | { readonly error: string });

/** Ends all waits of the tenant for the event, some runs at a time. */
export async function* notify(
  ports: WaitPorts,
  tenant: TenantId,
  event: string,
  body: Uint8Array,
): AsyncGenerator<readonly Notified[], void, undefined> {
  // Each run makes a copy of the event.
  const fitting = Math.floor(limits.readBytesMax / (body.length + 1));
  const runsMax = Math.max(1, Math.min(runsAtOnce, fitting));
  for await (const page of runsWaiting(ports, tenant, event, runsMax)) {
    const done = await Promise.all(page.map((run) => notifyRun(ports, run, event, body, false)));
    yield done.flatMap((each) => (typeof each === "string" ? [] : each));
  }
}

const runsAtOnce = 100;

/**
 * Ends the waits of one run. With `notes`, keeps an event that nothing waits for yet for the next wait; a failed run
 * keeps it for the run that continues it.
 */
export const notifyRun = (
  ports: WaitPorts,
  run: RunAddress | RunRef,
  event: string,
  body: Uint8Array,
  notes: boolean,
): Promise<Taken> => take(ports, run, { event, body, by: "told" }, notes);

/** Ends the waits for a webhook, or keeps its event for the next wait. */
export const hookRun = (
  ports: WaitPorts,
  run: RunAddress | RunRef,
  event: string,
  body: Uint8Array,
): Promise<Taken> => take(ports, run, { event, body, by: "webhook" }, true);

type Taken = readonly Notified[] | "unknown" | "full";
type Came = { readonly event: string; readonly body: Uint8Array; readonly by: EventWay };

async function take(
  ports: WaitPorts,
  ref: RunAddress | RunRef,
  { body, by, event }: Came,
  notes: boolean,
): Promise<Taken> {
  const taker = "key" in ref ? ref : await runForEvent(ports.runs, ref);
  if (!taker) return "unknown";
  let kept: { readonly run: Run; readonly part: RunPart } | undefined;
  const outcome = await endWaits(ports, taker, {
    chosen: (seen) => waitsFor(seen, event, by),
    said: () => ({ waitEventId: event, out: base64(body) }),
    bytes: body.length + 1,
    fits: fitsHistory,
    otherwise: (seen) => {
      kept = undefined;
      if (!notes) return { verdict: isActive(seen) ? [] : "unknown" };
      const part = {
        name: partOf({ role: "note", version: seen.version }),
        at: ports.clock.now(),
        body,
      };
      const next = noted(seen, { event, part: part.name, by, bytes: body.length });
      if (!next) return { verdict: "full" };
      kept = { run: next, part };
      return { verdict: [], write: { run: next, parts: [part], deliveries: [] }, intake: "new" };
    },
  });
  if (kept && isFailed(kept.run)) await passEventOn(ports, kept.run, kept.part);
  return outcome;
}

/**
 * Returns the run that takes an event named by run id: the newest run of the id while active, else the run that
 * continues it, else the newest run itself, if it has failed and can be resumed.
 */
export async function runForEvent(
  runs: Pick<RunStore, "byAlias" | "get">,
  address: RunAddress,
): Promise<Run | undefined> {
  const named = await runs.get(address);
  if (named && isActive(named)) return named;
  const heir = await runs.byAlias(address.tenant, address.id);
  const taker = heir ?? named;
  return taker && keepsEvents(taker) ? taker : undefined;
}

/** Hands an event that a failed run noted while it was being resumed to the resumed run, which may lack it. */
export async function passEventOn(
  ports: WaitPorts,
  failed: Run,
  { name, ...part }: RunPart,
): Promise<void> {
  const heir = await ports.runs.byAlias(failed.tenant, failed.id);
  if (heir?.from !== failed.key || !keepsEvents(heir)) return;
  const copy = await ports.runs.part(heir, name);
  if (copy?.at === part.at && Buffer.compare(copy.body, part.body) === 0) return;
  // Both the resume and the notification search for it; the write of the failed head decides which of them hands it on.
  const note = await ports.runs.change(failed, (run): Decision<Note | undefined> => {
    const found = keepsEvents(run) ? run.state.notes.find((each) => each.part === name) : undefined;
    if (!found || !keepsEvents(run)) return { verdict: undefined };
    const next = changedRun(withoutNote(run, name));
    return { verdict: found, write: headAlone(next) };
  });
  if (note) await take(ports, heir, { ...note, by: note.by ?? "told", body: part.body }, true);
}

export const timeOutWaits = (ports: WaitPorts, run: RunAddress | RunRef): Promise<unknown> =>
  endWaits(ports, run, {
    chosen: (seen) => overdueWaits(seen, ports.clock.now()),
    said: ({ event }) => ({ waitEventId: event, waitTimeout: true }),
    bytes: 1,
    fits: () => true,
    otherwise: () => ({ verdict: [] }),
  });

type Ending = {
  readonly chosen: (run: Run) => readonly Wait[];
  /** The fields of the result beside those of the step itself. */
  readonly said: (wait: Wait) => Readonly<Record<string, unknown>>;
  /** The bytes of these fields in each result. */
  readonly bytes: number;
  readonly fits: (run: Pick<Run, "bytes">, body: Uint8Array) => boolean;
  /** The decision if no wait is chosen. */
  readonly otherwise: (run: EventKeeper) => Decision<Done>;
};

type Done = readonly Notified[] | "again" | "full" | "unknown";

const waitsAtOnce = 100;

async function endWaits(
  ports: WaitPorts,
  ref: RunAddress | RunRef,
  ending: Ending,
): Promise<Exclude<Done, "again">> {
  const ended: Notified[] = [];
  const atOnce = Math.max(1, Math.min(waitsAtOnce, Math.floor(limits.readBytesMax / ending.bytes)));
  /** The remaining steps of the first look. A step that waits again by then waits for another event. */
  let left: ReadonlySet<number> | undefined;
  let tries = 0;
  while (tries < triesMax) {
    const seen = await ports.runs.get(ref);
    if (!seen || !keepsEvents(seen)) return ended.length > 0 ? ended : "unknown";
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
  const done = await deliveries.change<Done>(seen, (run) => {
    if (!keepsEvents(run)) return { verdict: "unknown" };
    const now = ports.clock.now();
    const waits = chosen(run);
    if (waits.length === 0 || !isActive(run)) return otherwise(run);
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
    return decisionOfResults(run, ended, deliveries, now, (next) => [
      ...ended.map(({ step, waiter }) => {
        const messageId = runMessageId(next.root, partOf({ role: "result", step }));
        return { waiter, messageId, run: next };
      }),
      ...going,
    ]);
  });
  return done ?? "unknown";
}
