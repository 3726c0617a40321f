/**
 * Events as bytes: one JSON envelope for each Kafka message, `{ v: 1, t, e }` for one event and `{ v: 2, t, es }` for
 * many. `v` is the version of this form and `t` is the topic, so that an event on a wrong topic is detected. A reader
 * accepts only the versions that it knows; all others are parked, not guessed at. Bytes are in base64: in facts the
 * answer of a destination, cut to the part that the log keeps (docs/design/wire#the-message-log), and in hints with a
 * record its body.
 */
import {
  alarmSources,
  answerOfFact,
  type AttemptFact,
  type Configuration,
  type LaneId,
  shardCount,
} from "@posthaste/domain";
import {
  type Hint,
  type SettledEvent,
  type Topic,
  type Topics,
  type WakeEvent,
} from "@posthaste/ports";

const one = 1;
const many = 2;

export type Decoded<E> =
  | { readonly kind: "events"; readonly events: readonly E[] }
  | { readonly kind: "unreadable"; readonly reason: string };

export function encode<T extends Topic>(topic: T, event: Topics[T]): Buffer {
  return Buffer.from(
    `${opening(topic, one)}${JSON.stringify(forms[topic].pack(event))}${closing[one]}`,
  );
}

const opening = (topic: Topic, version: typeof one | typeof many): string =>
  `{"v":${version},"t":"${topic}","${version === one ? "e" : "es"}":${version === one ? "" : "["}`;
const closing = { [one]: "}", [many]: "]}" } as const;
const comma = Buffer.from(",");

export function join(topic: Topic, encoded: readonly Buffer[]): Buffer {
  const start = opening(topic, one).length;
  const events = encoded.flatMap((value, n) => {
    const event = value.subarray(start, value.length - closing[one].length);
    return n === 0 ? [event] : [comma, event];
  });
  return Buffer.concat([Buffer.from(opening(topic, many)), ...events, Buffer.from(closing[many])]);
}

/** Never throws. `reason` names what is wrong and quotes nothing. */
export function decode<T extends Topic>(topic: T, value: Buffer | null): Decoded<Topics[T]> {
  if (value === null) return unreadable("the value is missing");
  const envelope = parsed(value);
  if (!isObject(envelope)) return unreadable("the value is not a JSON object");
  const { v, t, e, es } = envelope;
  if (v !== one && v !== many) return unreadable(`the version is neither ${one} nor ${many}`);
  if (t !== topic) return unreadable(`the event names another topic`);
  const packed: readonly unknown[] | undefined =
    v === one ? [e] : Array.isArray(es) ? es : undefined;
  const events = packed?.flatMap((each) => forms[topic].unpack(each) ?? []);
  if (events === undefined || events.length !== packed?.length || events.length === 0)
    return unreadable(`the value is not a ${topic} event`);
  return { kind: "events", events };
}

type Form<E> = {
  readonly pack: (event: E) => unknown;
  readonly unpack: (value: unknown) => E | undefined;
};

const forms: { readonly [T in Topic]: Form<Topics[T]> } = {
  "message.accepted": {
    pack: ({ message }) => ({ message: bodiless(message) }),
    unpack: (value) => (isAccepted(value) ? value : undefined),
  },
  "message.due": { pack: packHint, unpack: unpackHint },
  "message.settled": { pack: packSettled, unpack: unpackSettled },
  "scheduler.wake": { pack: (event) => event, unpack: unpackWake },
};

/** Leaves out a body, which a caller may hand over beyond the type: bodies are not sent. */
const bodiless = ({
  body: _,
  ...message
}: Configuration & { readonly body?: unknown }): Configuration => message;

function packSettled({ id, message: whole, fact }: SettledEvent): unknown {
  const message = bodiless(whole);
  const { response, ...rest } = fact;
  if (!response) return { id, message, fact: rest };
  const kept = answerOfFact(response);
  const packed = { ...kept, body: Buffer.from(kept.body).toString("base64") };
  return { id, message, fact: { ...rest, response: packed } };
}

function unpackSettled(value: unknown): SettledEvent | undefined {
  if (!isObject(value) || !isObject(value["fact"])) return undefined;
  const { response, ...rest } = value["fact"];
  if (response !== undefined && !isPackedAnswer(response)) return undefined;
  const fact = {
    ...rest,
    ...(response && { response: { ...response, body: bytesOf(response.body) } }),
  };
  const event = { ...value, fact };
  return isSettled(event) ? event : undefined;
}

function packHint({ to: _, record, ...hint }: Hint): unknown {
  if (!record) return hint;
  const { message } = record;
  const body = Buffer.from(message.body).toString("base64");
  return { ...hint, record: { ...record, message: { ...message, body } } };
}

function unpackHint(value: unknown): Hint | undefined {
  if (!isHint(value)) return undefined;
  const record: unknown = value.record;
  if (record === undefined) return value;
  if (!isPackedRecord(record)) return undefined;
  const message = { ...record.message, body: bytesOf(record.message.body) };
  return { ...value, record: { ...record, message } as Hint["record"] & object };
}

/** A later build may name a source that this build does not know. */
function unpackWake(value: unknown): WakeEvent | undefined {
  if (!isPackedWake(value)) return undefined;
  const { shard, at, lane, source } = value;
  if (lane !== undefined) return { shard, at, lane };
  return { shard, at, source: alarmSources.find((known) => known === source) ?? "any" };
}

/** Returns an array with memory of its own, not a view into Node's pool. */
const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));

// The checks below cover the fields by which a reader tells events apart and works them; all others are as the same version wrote them.

function isHint(value: unknown): value is Hint {
  return (
    isObject(value) &&
    isText(value["id"]) &&
    isText(value["tenant"]) &&
    isCount(value["origin"]) &&
    isCount(value["epoch"]) &&
    isCount(value["bytes"])
  );
}

type PackedRecord = { readonly message: object & { readonly body: string } };
function isPackedRecord(value: unknown): value is PackedRecord {
  return (
    isObject(value) &&
    isConfiguration(value["message"]) &&
    "body" in value["message"] &&
    typeof value["message"].body === "string" &&
    isObject(value["state"]) &&
    value["state"]["kind"] === "claimed" &&
    isText(value["state"]["owner"]) &&
    isTime(value["state"]["leaseUntil"])
  );
}

type PackedWake = {
  readonly shard: number;
  readonly at: number;
  readonly lane?: LaneId;
  readonly source?: unknown;
};
function isPackedWake(value: unknown): value is PackedWake {
  return (
    isObject(value) &&
    isCount(value["shard"]) &&
    value["shard"] < shardCount &&
    isTime(value["at"]) &&
    (value["lane"] === undefined || isText(value["lane"]))
  );
}

function isAccepted(value: unknown): value is Topics["message.accepted"] {
  return isObject(value) && isConfiguration(value["message"]);
}

function isSettled(value: unknown): value is SettledEvent {
  return (
    isObject(value) &&
    isText(value["id"]) &&
    isConfiguration(value["message"]) &&
    isFactOfAttempt(value["fact"])
  );
}

function isConfiguration(value: unknown): value is Configuration {
  return (
    isObject(value) &&
    isText(value["id"]) &&
    isText(value["tenant"]) &&
    isText(value["url"]) &&
    isText(value["method"]) &&
    isTime(value["createdAt"]) &&
    Array.isArray(value["headers"]) &&
    isObject(value["policy"]) &&
    isObject(value["origin"])
  );
}

const endings: ReadonlySet<unknown> = new Set<AttemptFact["ended"]>([
  "delivered",
  "retry",
  "failed",
  "canceled",
]);

function isFactOfAttempt(value: unknown): value is AttemptFact {
  return (
    isObject(value) &&
    value["kind"] === "fact" &&
    isText(value["id"]) &&
    isCount(value["attempt"]) &&
    isTime(value["endedAt"]) &&
    endings.has(value["ended"])
  );
}

function isPackedAnswer(value: unknown): value is { readonly body: string } {
  return (
    isObject(value) &&
    isCount(value["status"]) &&
    Array.isArray(value["headers"]) &&
    typeof value["body"] === "string" &&
    typeof value["truncated"] === "boolean"
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isTime = (value: unknown): value is number => Number.isFinite(value);
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

function parsed(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString());
  } catch {
    return undefined;
  }
}

const unreadable = (reason: string): { kind: "unreadable"; reason: string } => ({
  kind: "unreadable",
  reason,
});
