/** Valid runs, the writes of a start and a step, and the commands that ask for both. */
import {
  accept,
  append,
  cancelRun,
  type EntryDelivery,
  type EntryKey,
  entryMessage,
  isActive,
  type MessageRecord,
  newOrder,
  type Run,
  type RunCommand,
  runId,
  type RunIn,
  runKey,
  type RunPart,
  shardOf,
  type StepKey,
  type UrlCommand,
  partOf,
} from "@posthaste/domain";
import { type Decision, headIfChanged, type NextUse, type RunWrite } from "@posthaste/ports";
import { epochStart } from "../virtual-clock.ts";
import { aCommand } from "./command.ts";
import { aPolicy, aTenant, newId } from "./message.ts";

export const aRunId = runId("run");

export function aRun(overrides: Partial<RunIn<"active">> = {}): RunIn<"active"> {
  const { tenant = aTenant, id = aRunId, generation = 1, root = newId() } = overrides;
  return {
    key: runKey(tenant, id, generation),
    id,
    generation,
    root,
    tenant,
    dialect: "upstash",
    shard: shardOf(root),
    url: "https://endpoint.example/workflow",
    callerIp: "203.0.113.7",
    createdAt: epochStart,
    plan: { features: [], headers: [], policy: aPolicy() },
    state: { kind: "active", pending: [], notes: [] },
    history: newOrder,
    bytes: 0,
    reached: 0,
    version: 1,
    ...overrides,
  };
}

/** Returns the write of the start of a run, for the use of an id that `use` names. */
export function aRunStart(
  { after, generation }: NextUse,
  {
    body = noBody,
    now,
    delayMs = 0,
    ...given
  }: Partial<RunIn<"active">> & {
    readonly body?: Uint8Array;
    readonly now: number;
    readonly delayMs?: number;
  },
): RunWrite {
  const run = aRun({ ...given, generation, createdAt: Math.max(now, after + 1) });
  return {
    run,
    parts: [partAt({ role: "start" }, 0, body, now)],
    deliveries: [recordOf(run, { role: "start" }, now, delayMs)],
  };
}

export type AStep = StepKey & { readonly body?: Uint8Array };

export const aPlan = (step: number, body?: Uint8Array): AStep => aStep("plan", step, body);
export const aResult = (step: number, body?: Uint8Array): AStep => aStep("result", step, body);

const aStep = (role: StepKey["role"], step: number, body?: Uint8Array): AStep => ({
  role,
  step,
  ...(body && { body }),
});

/** Appends the steps that the run does not have yet. The verdict is their number, or that the run has ended. */
export function joining(
  run: Run,
  steps: readonly AStep[],
  now: number,
): Decision<number | "ended"> {
  if (!isActive(run)) return { verdict: "ended" };
  const appended = append(run, steps);
  if (appended.kind === "refused") throw new Error(appended.text);
  const { fresh, run: next } = appended;
  if (fresh.length === 0) return { verdict: 0 };
  const bodyOf = (key: StepKey): Uint8Array =>
    steps.find(({ role, step }) => role === key.role && step === key.step)?.body ?? noBody;
  const { length } = run.history;
  return {
    verdict: fresh.length,
    write: {
      run: next,
      parts: fresh.map((key, i) => partAt(key, length + i, bodyOf(key), now)),
      deliveries: fresh.map((key) => recordOf(next, key, now)),
    },
  };
}

/** Ends the run. The verdict is whether it ends now. */
export const ending = (run: Run, now: number): Decision<boolean> =>
  headIfChanged(isActive(run) && cancelRun(run, now));

const noBody = new Uint8Array(0);

const partAt = (key: EntryKey, rank: number, body: Uint8Array, now: number): RunPart => ({
  name: partOf(key),
  at: now,
  body,
  rank,
});

const recordOf = (run: Run, key: EntryKey, now: number, delayMs = 0): MessageRecord =>
  accept(entryMessage(run, key, deliveryTo(run, now + delayMs), now), now);

const deliveryTo = ({ url }: Run, notBefore: number): EntryDelivery => ({
  url,
  method: "POST",
  headers: [["Content-Type", "application/json"]],
  notBefore,
  callerIp: "203.0.113.7",
  hop: 0,
  policy: aPolicy(),
});

export function aStartCommand({
  run = { kind: "start", id: aRunId, features: [], headers: [] },
  ...overrides
}: Partial<RunCommand<"start">> = {}): RunCommand<"start"> {
  return { ...aCommand(overrides), run };
}

export function aStepCommand(
  key: StepKey,
  { id = aRunId, ...overrides }: Partial<UrlCommand> & { readonly id?: Run["id"] } = {},
): RunCommand<"entry"> {
  const body = new TextEncoder().encode(JSON.stringify({ stepId: key.step }));
  return { ...aCommand({ body, ...overrides }), run: { kind: "entry", id, key } };
}
