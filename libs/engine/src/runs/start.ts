/** Starts runs: head, first entry and the delivery of that entry exist before the answer (docs/design/runs#starting). */
import {
  adopt,
  bytesOfEntry,
  entryMessage,
  fault,
  type Fault,
  features as allFeatures,
  heldBehind,
  isActive,
  isFault,
  isHeld,
  keepsKey,
  type MessageId,
  newOrder,
  notBeforeOf,
  partOf,
  type Run,
  type RunCommand,
  runKey,
  type RunKey,
  runMessageId,
  type RunPlan,
  shardOf,
  usualDelivery,
  isOver,
  askedBy,
  type MessageRecord,
  released,
  type RunRef,
} from "@posthaste/domain";
import {
  type Decision,
  type Intake,
  type NextUse,
  type RunStore,
  type RunWrite,
  type StartedRun,
  headIfChanged,
  type Records,
} from "@posthaste/ports";
import { type AcceptPorts, type Published } from "../publish/accept.ts";
import { claimOnce, confirmKeys, type FindGone } from "../publish/deduplicate.ts";
import { deliveryFor, Deliveries, type DeliveryPorts, writeOfEntries } from "./deliveries.ts";

export type RunPorts = AcceptPorts & { readonly runs: RunStore };

/** Starts a run, or handles the second phase of a start. */
export async function startRun(
  ports: RunPorts,
  command: RunCommand<"start">,
): Promise<Published | Fault> {
  const known = command.run.phase === "adopts" && (await adoptRun(ports, command));
  if (known) return known;
  const started = await startRunOf(ports, command);
  if (isFault(started)) return started;
  const { isNew, run } = started;
  return answerFor(run, run.root, !isNew);
}

/** Returns the answer to a publish for a run. `url`: where its message is delivered. */
export function answerFor(
  run: Run,
  messageId: MessageId,
  deduplicated: boolean,
  url = run.url,
): Published {
  const { createdAt, id } = run;
  const { trace } = run.plan;
  const inAnswer = { createdAt, id, ...(trace !== undefined && { trace }) };
  return { messageId, url, deduplicated, run: inAnswer };
}

/**
 * Handles the start of a run by the endpoint that was asked to start it: the existing run is delivered to the
 * endpoint once more, and from then on like any other. Returns undefined when there is no such run.
 */
async function adoptRun(
  ports: RunPorts,
  { run: { id }, tenant }: RunCommand<"start">,
): Promise<Published | undefined> {
  const before = await ports.runs.get({ tenant, id });
  if (!before) return undefined;
  // The endpoint answers the first phase of the use before.
  if (isHeld(before)) return answerFor(before, before.root, true);
  if (!before.adoption) return undefined;
  const messageId = runMessageId(before.root, partOf({ role: "adopted" }));
  if (!isActive(before))
    return mayBeAsked(before, ports.clock.now()) ? answerFor(before, messageId, true) : undefined;
  const { sent } = (await ports.runs.part(before, "start")) ?? {};
  const delivery = sent ?? usualDelivery(before);
  const deliveries = new Deliveries(ports, tenant, [delivery.url]);
  const isAdopted = await deliveries.change(before, (run): Decision<boolean> => {
    const next = isActive(run) ? adopt(run) : undefined;
    if (!next) return { verdict: false };
    const now = ports.clock.now();
    const message = entryMessage(next, { role: "adopted" }, { ...delivery, notBefore: now }, now);
    const part = { name: partOf({ role: "adopted" }), at: now, body: new Uint8Array(0) };
    return {
      verdict: true,
      write: { run: next, parts: [part], deliveries: deliveries.recordsOf([message], now) },
    };
  });
  return answerFor(before, messageId, !isAdopted);
}

/**
 * Reports whether the endpoint may still have the request to start this ended run. A start by the endpoint is then
 * this run, which does not begin again.
 */
const mayBeAsked = ({ plan, state }: Run, now: number): boolean => {
  const { timeoutMs } = plan.policy;
  return state.kind !== "active" && !isOver(state.endedAt + timeoutMs, timeoutMs, now);
};

/** Starts a run. Returns the started run, or the one that was active under its id, or that the same deduplication id started. */
export async function startRunOf(
  ports: RunPorts,
  command: RunCommand<"start">,
  from?: RunKey,
): Promise<StartedAs | Fault> {
  const own = ports.ids.next();
  // A start from a failed run is a retry.
  const intake: Intake = from ? "accepted" : "new";
  const start = async (root: MessageId): Promise<StartedAs> => {
    const lineage = { root, ...(from && { from }) };
    const notBefore = notBeforeOf(command, ports.clock.now());
    const started = await startAs(ports, command, lineage, notBefore, intake);
    if (started.isNew) await beginUnlessHeld(ports, started.run);
    return started;
  };
  return command.deduplication ? startOnce(ports, command, own, start) : start(own);
}

/**
 * Claims the deduplication window first, then starts the run under the root that the window names. A root has one run, whichever
 * gateway starts it.
 */
async function startOnce(
  ports: RunPorts,
  command: RunCommand<"start">,
  own: MessageId,
  start: (root: MessageId) => Promise<StartedAs>,
): Promise<StartedAs | Fault> {
  const goneOf: FindGone = async (roots) => {
    const runs = await Promise.all(roots.map((root) => ports.runs.byRoot(root)));
    return new Set(runs.flatMap((run) => (run && !keepsKey(run.state.kind) ? run.root : [])));
  };
  const claimed = await claimOnce(ports, command, own, goneOf);
  if (isFault(claimed)) return claimed;
  const { id: root, isDuplicate, key } = claimed;
  if (isDuplicate) {
    const run = await ports.runs.byRoot(root);
    return run ? { run, isNew: false } : gone;
  }
  const started = await start(root);
  // If another run was active under the id, the key names no run, and ends as a pending one does.
  if (started.run.root === root) await confirmKeys(ports, [{ key, id: root }]);
  return started;
}

export const gone: Fault = fault("not_found", "the run is no longer kept");

type StartedAs = { readonly run: Run; readonly isNew: boolean };

/** The origin of a run, set if this call starts it. */
type Lineage = Pick<Run, "root" | "invoker" | "from">;

export async function startAs(
  ports: DeliveryPorts & Pick<RunPorts, "runs">,
  command: RunCommand<"start">,
  lineage: Lineage,
  notBefore: number,
  intake: Intake,
): Promise<StartedAs> {
  const { run: asked, tenant } = command;
  const { url } = command.destination;
  const deliveries = new Deliveries(ports, tenant, [url]);

  const make = ({ generation, after, before }: NextUse): RunWrite => {
    const now = ports.clock.now();
    const behind = heldBehind(before, now);
    const run: Run = {
      key: runKey(tenant, asked.id, generation),
      id: asked.id,
      generation,
      ...lineage,
      tenant,
      dialect: command.dialect,
      shard: shardOf(lineage.root),
      url,
      callerIp: command.callerIp,
      createdAt: Math.max(now, after + 1),
      plan: planOf(command),
      state: {
        ...{ kind: "active", pending: [], notes: [], hooks: [] },
        ...(behind && { behind }),
      },
      ...(asked.phase === "probes" && { adoption: "awaited" }),
      marks: "expected",
      history: newOrder,
      bytes: bytesOfEntry(command.body),
      reached: 0,
      version: 1,
    };
    const delivery = deliveryFor(command, notBefore);
    const start = { key: { role: "start" }, body: command.body, delivery } as const;
    return writeOfEntries(run, 0, [start], deliveries, now);
  };

  const isNew = ({ kind, run }: StartedRun): boolean =>
    kind === "started" && run.root === lineage.root;
  const started = await deliveries.within(
    () => ports.runs.start(tenant, asked.id, intake, make),
    isNew,
  );
  return { run: started.run, isNew: isNew(started) };
}

/** An endpoint that can start a run itself has all features. */
function planOf({
  policy: { callback: _, failureCallback: failureFunction, ...kept },
  run: { features, headers, isRequested, phase },
  trace,
}: RunCommand<"start">): RunPlan {
  return {
    features: phase === "probes" ? allFeatures : features,
    headers,
    policy: kept,
    ...(isRequested && { isRequested }),
    ...(trace !== undefined && { trace }),
    ...(failureFunction && { failureFunction }),
  };
}

export type UsePorts = {
  readonly records: Pick<Records, "get">;
  readonly runs: Pick<RunStore, "change" | "get">;
};

/**
 * Releases a held run once no delivery of the use before it is under way: requests that name only the id belong to the run from
 * then on. Returns false while a delivery is under way.
 */
export async function beginHeld(ports: UsePorts, run: RunRef, behind: RunRef): Promise<boolean> {
  if (await isDelivered(ports, behind)) return false;
  await ports.runs.change(run, (seen) => headIfChanged(released(seen)));
  return true;
}

/** Releases a run that has just started as soon as it may begin. If that fails here, it is done before the first delivery. */
export async function beginUnlessHeld(ports: UsePorts, run: Run): Promise<void> {
  const behind = isHeld(run) ? run.state.behind : undefined;
  if (behind) await beginHeld(ports, run, behind).catch(() => false);
}

const recordsMax = 500;

async function isDelivered({ records, runs }: UsePorts, ref: RunRef): Promise<boolean> {
  const run = await runs.get(ref);
  const ids = run ? askedBy(run) : [];
  // Newest first: the entry published last is the most likely to have a delivery under way.
  for (let to = ids.length; run && to > 0; to -= recordsMax) {
    const some = await records.get(run.tenant, ids.slice(Math.max(0, to - recordsMax), to));
    if (some.some(isClaimed)) return true;
  }
  return false;
}

const isClaimed = (record: MessageRecord | undefined): boolean => record?.state.kind === "claimed";
