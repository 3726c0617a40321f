/**
 * Makes a new run of a failed one, which stays as it is: a resumed run has the finished steps and does the open work, a
 * restarted run has the payload and the plan, and begins anew.
 */
import {
  answerMessage,
  callMessage,
  changedPolicy,
  type EntryDelivery,
  type EntryKey,
  entryMessage,
  fault,
  heldBehind,
  type Fault,
  inheritedParts,
  isFailed,
  isMadeOf,
  limits,
  merged,
  type Message,
  notBeforeOf,
  openEntries,
  type Overrides,
  partOf,
  resumedRun,
  type Run,
  type RunId,
  type RunIn,
  runKey,
  type RunPart,
  shardOf,
  usualDelivery,
  changedFlow,
  isFault,
  type RunCommand,
  type RunPlan,
} from "@posthaste/domain";
import { type NextUse, type RunWrite } from "@posthaste/ports";
import { wakeSchedulers } from "../publish/announce.ts";
import { Deliveries } from "./deliveries.ts";
import { startChild } from "./invoke.ts";
import { passEventOn } from "./notify.ts";
import { gone, type RunPorts, beginUnlessHeld, startRunOf } from "./start.ts";
import { renewedWaits, type RenewedWait } from "./waits.ts";

/** `id`: of the new run. Returns the run of that id if it is active and was already made by a resume of this failed run. */
export async function resumeRun(
  ports: RunPorts,
  failed: RunIn<"failed">,
  id: RunId,
  overrides: Overrides,
): Promise<Run | Fault> {
  const { bus, clock, ids, runs } = ports;
  const work = await openWorkOf(ports, failed, id);
  if (work === undefined) return gone;
  if (work.bytes > limits.runHistoryBytesMax) return tooMuch;
  const root = ids.next();
  const deliveries = new Deliveries(ports, failed.tenant, work.entries.map(urlOf));
  const make = ({ generation, after, before }: NextUse): RunWrite => {
    const now = clock.now();
    const behind = heldBehind(before, now);
    const { callerIp, plan, tenant } = failed;
    const use = {
      ...{ id, generation, root, callerIp },
      key: runKey(tenant, id, generation),
      shard: shardOf(root),
      createdAt: Math.max(now, after + 1),
      plan: planWith(plan, overrides),
      ...(behind && { behind }),
      deadlines: new Map(work.waits.map(({ deadline, step }) => [step, deadline])),
    };
    const run = resumedRun(failed, use, now);
    const messages = messagesOf(run, work, overrides, now);
    const parts = work.waits.map(({ part }) => part);
    return { run, parts, deliveries: deliveries.recordsOf(messages, now) };
  };

  const inherited = { of: failed, names: inheritedParts(failed) };
  const started = await deliveries.within(
    () => runs.resume(failed.tenant, id, inherited, make),
    (outcome) => outcome !== "gone" && outcome.kind === "started",
  );
  if (started === "gone") return gone;
  const { run } = started;
  if (started.kind === "known") return isMadeOf(run, failed) ? run : isActiveAlready;
  for (const { deadline } of work.waits)
    wakeSchedulers(bus, [{ shard: run.shard, at: deadline, source: "run" }]);
  await beginUnlessHeld(ports, run);
  await handLateOn(ports, failed);
  // The alarm of the run starts the children that are not started now.
  for (const { kind, step } of failed.state.pending)
    if (kind === "invoke") await startChild(ports, run, step).catch(() => undefined);
  return run;
}

/** Hands on the events that came after the failed run was read. */
async function handLateOn(ports: RunPorts, failed: RunIn<"failed">): Promise<void> {
  const seen = await ports.runs.get(failed);
  if (!seen || !isFailed(seen)) return;
  const copied = new Set(failed.state.notes.map(({ part }) => part));
  for (const { part: name } of seen.state.notes.filter(({ part }) => !copied.has(part))) {
    const part = await ports.runs.part(failed, name);
    if (part) await passEventOn(ports, seen, part);
  }
}

const tooMuch = fault(
  "malformed",
  `the calls that the run waits for hold more than ${limits.runHistoryBytesMax} bytes: restart it`,
);

type OpenEntry = { readonly key: EntryKey; readonly sent?: EntryDelivery };
type OpenCall = {
  readonly step: number;
  readonly sent: EntryDelivery;
  readonly body: Uint8Array;
  /** The body for the endpoint, if the third party has had its last call. */
  readonly answer?: Uint8Array;
};
type OpenWork = {
  readonly entries: readonly OpenEntry[];
  readonly calls: readonly OpenCall[];
  readonly waits: readonly RenewedWait[];
  /** The bytes held in memory at once. */
  readonly bytes: number;
};

const urlOf = ({ sent }: OpenEntry): string => sent?.url ?? "";

/** Reads the open work of a failed run, no further than the bound of a history. Returns undefined when a part was swept. */
async function openWorkOf(
  ports: RunPorts,
  failed: RunIn<"failed">,
  id: RunId,
): Promise<OpenWork | undefined> {
  const partNamed = (name: string): Promise<RunPart | undefined> => ports.runs.part(failed, name);
  const isTraced = failed.plan.trace !== undefined;
  const entries: OpenEntry[] = [];
  for (const key of openEntries(failed)) {
    const part = await partNamed(partOf(key));
    if (!part) return undefined;
    const sent = part.sent ?? usualDelivery(failed);
    entries.push({ key, sent: { ...sent, ...(isTraced && stepNameIn(part.body)) } });
  }
  const calls: OpenCall[] = [];
  let bytes = 0;
  for (const pending of failed.state.pending) {
    if (pending.kind !== "call") continue;
    const { isAnswered, step } = pending;
    const call = await partNamed(partOf({ role: "call", step }));
    const answer = isAnswered ? await partNamed(partOf({ role: "answer", step })) : undefined;
    if (!call?.sent || (isAnswered && !answer)) return undefined;
    const { body, sent } = call;
    calls.push({ step, sent, body, ...(answer && { answer: answer.body }) });
    bytes += body.length + (answer?.body.length ?? 0);
    if (bytes > limits.runHistoryBytesMax) break;
  }
  const waits = await renewedWaits(ports, failed, id);
  return waits && { entries, calls, waits, bytes };
}

/** Returns the step's name for its traces. The body is a client's JSON, of which nothing else was checked. */
function stepNameIn(body: Uint8Array): Pick<EntryDelivery, "stepName"> {
  if (body.length > namedBytesMax) return {};
  try {
    const { stepName } = JSON.parse(new TextDecoder().decode(body)) as { stepName?: unknown };
    return typeof stepName === "string" ? { stepName } : {};
  } catch {
    return {};
  }
}
const namedBytesMax = 64 * 1024;

/** Builds the messages of the open work. Overrides of the run's headers and policy also replace those that a step was sent with. */
function messagesOf(
  run: Run,
  { calls, entries }: OpenWork,
  { flow: change, headers, policy, postponement }: Overrides,
  now: number,
): readonly Message[] {
  const postponed = notBeforeOf({ ...(postponement && { postponement }) }, now);
  const { flow } = run.plan.policy;
  const later = (notBefore: number): number => Math.max(notBefore, postponed);
  return [
    ...entries.map(({ key, sent = usualDelivery(run) }) => {
      const own = {
        headers: merged(sent.headers, headers),
        policy: { ...changedPolicy(sent.policy, policy), ...(change && flow && { flow }) },
        notBefore: later(sent.notBefore),
      };
      return entryMessage(run, key, { ...sent, ...own }, now);
    }),
    ...calls.flatMap(({ answer, body, sent, step }) => {
      const { callback } = sent.policy;
      if (!answer) return callMessage(run, step, { ...sent, body, notBefore: postponed }, now);
      if (!callback) return [];
      const { retriesMax, retryDelay, timeoutMs } = policy;
      const told = {
        ...callback,
        headers: merged(callback.headers, headers),
        ...(retriesMax !== undefined && { retriesMax }),
        ...(retryDelay !== undefined && { retryDelay }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(change && flow && { flow }),
      };
      const message = answerMessage(run, step, told, { body: answer, from: sent }, now);
      return { ...message, notBefore: later(message.notBefore) };
    }),
  ];
}

/** `id`: of the new run. Returns the run of that id if it is active and was already made by a restart of this failed run. */
export async function restartRun(
  ports: RunPorts,
  failed: RunIn<"failed">,
  id: RunId,
  overrides: Overrides,
): Promise<Run | Fault> {
  const payload = await ports.runs.part(failed, "start");
  if (!payload) return gone;
  const { callerIp, dialect, tenant, url } = failed;
  const { failureFunction, features, headers, isRequested, policy } = planWith(
    failed.plan,
    overrides,
  );
  const { postponement } = overrides;
  const command: RunCommand<"start"> = {
    tenant,
    dialect,
    destination: { kind: "url", url },
    method: "POST",
    headers: payload.sent?.headers ?? usualDelivery(failed).headers,
    body: payload.body,
    policy: { ...policy, ...(failureFunction && { failureCallback: failureFunction }) },
    ...(postponement && { postponement }),
    callerIp,
    hop: 1,
    run: { kind: "start", id, features, headers, ...(isRequested && { isRequested }) },
  };
  const started = await startRunOf(ports, command, failed.key);
  if (isFault(started)) return started;
  const { isNew, run } = started;
  return isNew || isMadeOf(run, failed) ? run : isActiveAlready;
}

/** Returns the plan of the failed run with the changes of the headers. */
function planWith(
  { trace: _trace, ...plan }: RunPlan,
  { flow: change, headers, policy }: Overrides,
): RunPlan {
  const { callback: _, failureCallback = plan.failureFunction, ...own } = policy;
  const flow = changedFlow(plan.policy.flow, change);
  return {
    ...plan,
    headers: merged(plan.headers, headers),
    policy: { ...changedPolicy(plan.policy, own), ...(flow && { flow }) },
    ...(failureCallback && { failureFunction: failureCallback }),
  };
}

const isActiveAlready: Fault = fault(
  "malformed",
  "a workflow already exists, can not initialize a new one with same id",
);
