/** Callbacks: an attempt's answer as a new message (interface.md, Events). */
import { callbackId, failureCallbackId, flowLaneId, shardOf } from "../shared/ids.ts";
import { type CallbackItem } from "./follow-up.ts";
import { type Headers } from "./headers.ts";
import { type CallbackPlan, type Message, type Policy } from "./message.ts";
import { inheritedRedaction } from "./redact.ts";

/** The message that tells of `item`; the same id and body however often it is made. Undefined when no such callback was asked for. */
export function callbackMessage(source: Message, item: CallbackItem): Message | undefined {
  const plan = item.kind === "callback" ? source.policy.callback : source.policy.failureCallback;
  if (!plan) return undefined;
  const id =
    item.kind === "callback" ? callbackId(source.id, item.attempt) : failureCallbackId(source.id);
  const policy = callbackPolicy(source, plan);
  const flowLane = policy.flow ? flowLaneId(source.tenant, policy.flow.key) : undefined;
  return {
    id,
    tenant: source.tenant,
    dialect: source.dialect,
    shard: shardOf(flowLane ?? id),
    createdAt: item.endedAt,
    notBefore: item.endedAt + plan.delayMs,
    url: plan.url,
    method: plan.method,
    headers: withContentType(plan.headers),
    body: new TextEncoder().encode(JSON.stringify(callbackBody(source, item))),
    policy,
    origin: { callerIp: source.origin.callerIp, callbackOf: source.id, hop: source.origin.hop },
    ...(flowLane && { flowLane }),
    ...(source.trace !== undefined && { trace: source.trace }),
  };
}

function callbackPolicy(source: Message, plan: CallbackPlan): Policy {
  const retryDelay = plan.retryDelay ?? source.policy.retryDelay;
  const redaction = inheritedRedaction(source);
  return {
    timeoutMs: plan.timeoutMs,
    retriesMax: plan.retriesMax ?? source.policy.retriesMax,
    labels: plan.labels ?? source.policy.labels,
    ...(retryDelay !== undefined && { retryDelay }),
    ...(plan.flow && { flow: plan.flow }),
    ...(redaction && { redaction }),
  };
}

const withContentType = (headers: Headers): Headers =>
  headers.some(([name]) => name.toLowerCase() === "content-type")
    ? headers
    : [["Content-Type", "application/json"], ...headers];

/** `status` is 0 when there was no answer; then `body` says why. */
function callbackBody(source: Message, item: CallbackItem): object {
  const { response, error } = item;
  const { group, scheduleId } = source.origin;
  return {
    status: response?.status ?? 0,
    header: response ? groupedHeaders(response.headers) : {},
    body: response ? base64(response.body) : base64(new TextEncoder().encode(error ?? "")),
    retried: item.retried,
    maxRetries: source.policy.retriesMax,
    ...(item.dlqId !== undefined && { dlqId: item.dlqId }),
    sourceMessageId: source.id,
    ...(group && { topicName: group.name }),
    ...(group?.endpointName !== undefined && { endpointName: group.endpointName }),
    url: source.url,
    method: source.method,
    sourceHeader: groupedHeaders(source.headers),
    sourceBody: base64(source.body),
    notBefore: String(source.notBefore),
    createdAt: String(source.createdAt),
    ...(scheduleId !== undefined && { scheduleId }),
    callerIP: source.origin.callerIp,
  };
}

/** `{Name: [value, …]}` with names in Go's canonical form (decisions.md 21). */
export function groupedHeaders(headers: Headers): Readonly<Record<string, readonly string[]>> {
  const grouped = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const canonical = canonicalName(name);
    const values = grouped.get(canonical);
    if (values) values.push(value);
    else grouped.set(canonical, [value]);
  }
  return Object.fromEntries(grouped);
}

export const canonicalName = (name: string): string =>
  name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
