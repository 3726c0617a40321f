/** Deliveries of a run: ordinary messages, stored without a body if they carry the history (docs/design/runs#deliveries). */
import { lanesOf } from "../lane/gates.ts";
import { type Headers } from "../message/headers.ts";
import { type InRun, type Message } from "../message/message.ts";
import { type CallbackPlan, type Policy, settingsOfCallback } from "../message/policy.ts";
import { runMessageId } from "../shared/ids.ts";
import { lightBytesMax } from "../shared/limits.ts";
import { type EntryKey } from "./order.ts";
import { deliveryOf, isEntry, type PartKey, partOf } from "./part-key.ts";
import { type EntryDelivery, type Run, type RunIn } from "./run.ts";

/**
 * Reports whether a message is a call to a third party: its answer is the result of a step, and its body is a part of the
 * run.
 */
export const isCallOfRun = ({ run }: Pick<Message, "run">): boolean =>
  run !== undefined && deliveryOf(run.part)?.role === "call";

/** Returns the step name of a call, which clients give in the headers with which the call's answer is delivered. */
export const stepNameOf = (plan: Pick<CallbackPlan, "headers"> | undefined): string | undefined =>
  plan?.headers.find(([name]) => /-workflow-stepname$/i.test(name))?.[1];

/** Returns how an entry is delivered, as far as that is stored; undefined for the usual delivery. */
export function keptDelivery(
  run: Run,
  { callerIp, headers, hop, method, notBefore, policy, url }: EntryDelivery,
  now: number,
): EntryDelivery | undefined {
  const isUsual =
    url === run.url &&
    method === "POST" &&
    notBefore <= now &&
    run.plan.features.includes("WF_TriggerOnConfig") &&
    headers.length === 1 &&
    headers[0]?.[0].toLowerCase() === "content-type" &&
    headers[0][1] === "application/json";
  return isUsual ? undefined : { callerIp, headers, hop, method, notBefore, policy, url };
}

export const usualDelivery = ({ callerIp, plan, url }: Run): EntryDelivery => ({
  ...{ url, callerIp, hop: 1 },
  method: "POST",
  headers: json,
  notBefore: 0,
  policy: plan.policy,
});

/** Returns the message that delivers an entry. The body, the history up to that entry, is read when the message is sent. */
export function entryMessage(
  run: Run,
  key: EntryKey,
  delivery: EntryDelivery,
  now: number,
): Message {
  const isStart = key.role === "start";
  const detects =
    isStart && run.plan.features.includes("WF_DetectTrigger")
      ? run.plan.isRequested
        ? "request"
        : "client"
      : undefined;
  const probes = isStart && run.adoption === "awaited";
  return messageOfRun(run, key, now, {
    ...delivery,
    headers: merged(run.plan.headers, delivery.headers),
    policy: entryPolicy(run, delivery.policy),
    body: noBody,
    ...(detects && { detects }),
    ...(probes && { probes }),
  });
}

/** Returns the message of a step's call to a third party. The message carries only the headers of the call, never those of the run. */
export const callMessage = (
  run: Run,
  step: number,
  sent: EntryDelivery & { readonly body: Uint8Array },
  now: number,
): Message => {
  const { failureCallback: _, ...policy } = sent.policy;
  const { labels, redaction } = run.plan.policy;
  return messageOfRun(run, { role: "call", step }, now, {
    ...sent,
    ...named(stepNameOf(policy.callback)),
    policy: { ...policy, labels, ...(redaction && { redaction }) },
  });
};

/** Returns the message that reports the answer to a step's call to the endpoint. */
export const answerMessage = (
  run: Run,
  step: number,
  plan: CallbackPlan,
  { body, from }: { readonly body: Uint8Array; readonly from: Pick<Sent, "callerIp" | "hop"> },
  now: number,
): Message => {
  const { failureCallback } = plan;
  const own = {
    ...settingsOfCallback(plan, run.plan.policy),
    ...(failureCallback && { failureCallback }),
  };
  return messageOfRun(run, { role: "answer", step }, now, {
    url: plan.url,
    method: plan.method,
    headers: merged(run.plan.headers, merged(json, plan.headers)),
    notBefore: now + plan.delayMs,
    callerIp: from.callerIp,
    hop: from.hop,
    policy: entryPolicy(run, own),
    body,
    ...named(stepNameOf(plan)),
  });
};

const named = (stepName: string | undefined) => stepName !== undefined && { stepName };

const json: Headers = [["Content-Type", "application/json"]];

export const failureDelivery = (
  run: Run,
  told: CallbackPlan,
  { callerIp, hop }: Pick<Sent, "callerIp" | "hop">,
  now: number,
): EntryDelivery => {
  const { headers, policy } = run.plan;
  const { delayMs, method, url } = told;
  return {
    ...{ url, method, callerIp, hop, notBefore: now + delayMs },
    headers: merged(headers, merged(json, told.headers)),
    policy: {
      ...settingsOfCallback(told, policy),
      ...(policy.redaction && { redaction: policy.redaction }),
    },
  };
};

/** Returns the message that reports the failure of a run, in its last round. */
export function failureMessage(
  run: RunIn<"failed">,
  sent: EntryDelivery,
  body: Uint8Array,
  now: number,
): Message {
  const round = run.state.failure.function?.round ?? 1;
  return messageOfRun(run, { role: "told", round }, now, { ...sent, body });
}

type Sent = EntryDelivery & {
  readonly body: Uint8Array;
  readonly detects?: InRun["detects"];
  readonly probes?: boolean;
};

function messageOfRun(run: Run, delivered: PartKey, now: number, sent: Sent): Message {
  const part = partOf(delivered);
  const { key, id, root, createdAt, tenant, dialect, shard } = run;
  const bytes = isEntry(delivered) ? run.bytes : 0;
  const fetches = sent.fetches && bytes > lightBytesMax;
  const { trace } = run.plan;
  const inRun: InRun = {
    ...{ key, id, root, part, createdAt, bytes },
    ...(trace !== undefined && named(sent.stepName)),
    ...(fetches && { fetches }),
    ...(sent.detects && { detects: sent.detects }),
    ...(sent.probes && { probes: true }),
    ...(run.state.kind === "active" && run.state.behind && { behind: run.state.behind }),
  };
  return {
    ...lanesOf(tenant, sent.policy.flow),
    id: runMessageId(root, part),
    ...(run.format !== undefined && { format: run.format }),
    tenant,
    dialect,
    shard,
    createdAt: now,
    notBefore: Math.max(sent.notBefore, now),
    url: sent.url,
    method: sent.method,
    headers: sent.headers,
    body: sent.body,
    policy: sent.policy,
    origin: { callerIp: sent.callerIp, hop: sent.hop },
    ...(trace !== undefined && { trace }),
    run: inRun,
  };
}

/**
 * Returns the policy of an entry. If the start gave no failure function, the step's own is kept: a client that does
 * not know the one of its endpoint gives none at the start.
 */
function entryPolicy({ plan }: Run, own: Policy): Policy {
  const { callback: _, failureCallback, ...rest } = own;
  const policy = plan.features.includes("WF_TriggerOnConfig")
    ? plan.policy
    : {
        ...rest,
        labels: plan.policy.labels,
        ...(plan.policy.redaction && { redaction: plan.policy.redaction }),
      };
  const told = plan.failureFunction ?? failureCallback;
  return told ? { ...policy, failureCallback: told } : policy;
}

/** Merges headers; a name in `own` replaces the values in `base`. */
export function merged(base: Headers, own: Headers): Headers {
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  return [...base.filter(([name]) => !names.has(name.toLowerCase())), ...own];
}

const noBody = new Uint8Array(0);
