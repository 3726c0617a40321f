/** Callbacks: an attempt's answer as a new message (docs/design/wire#callbacks). */
import { lanesOf, shardOfMessage } from "../lane/gates.ts";
import { callbackId, failureCallbackId } from "../shared/ids.ts";
import { type CallbackItem } from "./follow-up.ts";
import { type Headers } from "./headers.ts";
import { type Message } from "./message.ts";
import { type CallbackPlan, type Policy, settingsOfCallback } from "./policy.ts";
import { inheritedRedaction } from "./redact.ts";

/** Returns the callback of `item`, with the same id and body however often it is made; undefined when the source has none. */
export function callbackMessage(source: Message, item: CallbackItem): Message | undefined {
  const plan = item.kind === "callback" ? source.policy.callback : source.policy.failureCallback;
  if (!plan) return undefined;
  const id =
    item.kind === "callback" ? callbackId(source.id, item.attempt) : failureCallbackId(source.id);
  const policy = callbackPolicy(source, plan);
  const lanes = lanesOf(source.tenant, policy.flow);
  return {
    ...lanes,
    id,
    tenant: source.tenant,
    dialect: source.dialect,
    shard: shardOfMessage({ id, ...lanes }),
    createdAt: item.endedAt,
    notBefore: item.endedAt + plan.delayMs,
    url: plan.url,
    method: plan.method,
    headers: withContentType(plan.headers),
    body: callbackBody(source, item),
    policy,
    origin: { callerIp: source.origin.callerIp, callbackOf: source.id, hop: source.origin.hop },
    ...(source.queue !== undefined && { turnOf: { queue: source.queue, id: source.id } }),
    ...(source.trace !== undefined && { trace: source.trace }),
  };
}

function callbackPolicy(source: Message, plan: CallbackPlan): Policy {
  const redaction = inheritedRedaction(source);
  return { ...settingsOfCallback(plan, source.policy), ...(redaction && { redaction }) };
}

const withContentType = (headers: Headers): Headers =>
  headers.some(([name]) => name.toLowerCase() === "content-type")
    ? headers
    : [["Content-Type", "application/json"], ...headers];

/**
 * Returns the callback's body as JSON. `status` is 0 when there was no answer, and `body` then says why; `truncated`
 * is set if `body` is not all of the answer. The bodies inside may be large, so they are not escaped and never become
 * one text.
 */
export function callbackBody(source: Message, item: CallbackItem): Uint8Array {
  const { response, error } = item;
  const { group, scheduleId } = source.origin;
  const answered = {
    status: response?.status ?? 0,
    header: response ? groupedHeaders(response.headers) : {},
    ...(response?.truncated && { truncated: true }),
  };
  const about = {
    retried: item.retried,
    maxRetries: source.policy.retriesMax,
    ...(item.dlqId !== undefined && { dlqId: item.dlqId }),
    sourceMessageId: source.id,
    ...(group && { topicName: group.name }),
    ...(group?.endpointName !== undefined && { endpointName: group.endpointName }),
    url: source.url,
    method: source.method,
    sourceHeader: groupedHeaders(source.headers),
  };
  const origin = {
    notBefore: String(source.notBefore),
    createdAt: String(source.createdAt),
    ...(scheduleId !== undefined && { scheduleId }),
    callerIP: source.origin.callerIp,
    ...(source.run && { workflowRunId: source.run.id, workflowCreatedAt: source.run.createdAt }),
  };
  return written([
    `{${fieldsOf(answered)},"body":"`,
    response?.body ?? new TextEncoder().encode(error ?? ""),
    `",${fieldsOf(about)},"sourceBody":"`,
    source.body,
    `",${fieldsOf(origin)}}`,
  ]);
}

/** Returns the JSON of an object's fields without its braces. The object has at least one field. */
const fieldsOf = (object: object): string => JSON.stringify(object).slice(1, -1);

/** Writes texts as UTF-8 and bytes as base64. */
function written(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + lengthOf(part), 0);
  const bytes = Buffer.allocUnsafeSlow(length);
  let end = 0;
  for (const part of parts) for (const text of textsOf(part)) end += bytes.write(text, end);
  return new Uint8Array(bytes.buffer);
}

const lengthOf = (part: string | Uint8Array): number =>
  typeof part === "string" ? Buffer.byteLength(part) : Math.ceil(part.length / 3) * 4;

/** Yields a part as texts. A large part never becomes one text, which would need as much memory again as the body it is written into. */
function* textsOf(part: string | Uint8Array): Generator<string> {
  if (typeof part === "string") yield part;
  else
    for (let from = 0; from < part.length; from += encodedAtOnce)
      yield base64(part.subarray(from, from + encodedAtOnce));
}

/** Three bytes become four characters, so a multiple of three is encoded without padding. */
const encodedAtOnce = 3 * 16 * 1024;

/** Returns `{Name: [value, …]}` with names in Go's canonical form (docs/design/wire#headers). */
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
