/**
 * The record: one message, one alarm (docs/design/record#the-alarm). `Message` is fixed when the message is accepted;
 * `MessageRecord` adds the changing fields. Every change is a transition in this folder, and takes the state that it
 * is legal from.
 */
import { type Lanes } from "../lane/lane.ts";
import {
  type DlqId,
  type FlowId,
  type MessageId,
  type Owner,
  type QueueId,
  type RunId,
  type RunKey,
  type TenantId,
} from "../shared/ids.ts";
import { type FollowUp } from "./follow-up.ts";
import { type Headers } from "./headers.ts";
import { type CallbackPlan, type Method, type Policy } from "./policy.ts";

export const dialects = ["service", "upstash"] as const;
export type Dialect = (typeof dialects)[number];

/** APIs for which the operator configures a provider. */
export type Api = "llm";

export type Origin = {
  readonly callerIp: string;
  readonly group?: { readonly name: string; readonly endpointName?: string };
  readonly scheduleId?: string;
  readonly queueName?: string;
  /** Set when the destination is the operator's provider, whose key the deliverer adds. */
  readonly api?: Api;
  /** Set on callbacks and failure callbacks, which have no callbacks of their own. */
  readonly callbackOf?: MessageId;
  /** The message that failed and its dead letter, of which this message is a retry. */
  readonly retryOf?: { readonly message: MessageId; readonly letter: DlqId };
  /** How often this chain of messages has passed through this service (docs/design/delivery#loops). */
  readonly hop: number;
};

/** The message of a queue that a callback reports on. The turn of that message lasts until its callbacks have ended. */
export type TurnOf = { readonly queue: QueueId; readonly id: MessageId };

export type InRun = {
  readonly key: RunKey;
  readonly id: RunId;
  readonly root: MessageId;
  /** The part of the run that is delivered; see `PartName`. */
  readonly part: string;
  readonly createdAt: number;
  /** The most bytes that are sent beside the body: the history up to this entry. */
  readonly bytes: number;
  /** Set when the destination must answer as a workflow does. The value says what started the run, and selects the text of a failure. */
  readonly detects?: "client" | "request";
  /** The message asks its destination to start the run itself. The answer shows which protocol the destination speaks. */
  readonly probes?: true;
  /** The endpoint fetches the history, which is not sent. */
  readonly fetches?: true;
  /** The endpoint's name of the step that this message reports or plans; set when the run is traced. */
  readonly stepName?: string;
  /** The previous use of the run's id. While it is being delivered, this message is not. */
  readonly behind?: { readonly key: RunKey; readonly root: MessageId };
};

export type Message = Lanes & {
  readonly id: MessageId;
  /** The record's format, see `isKnownFormat`; absent for format 1. */
  readonly format?: number;
  readonly tenant: TenantId;
  readonly dialect: Dialect;
  readonly shard: number;
  readonly createdAt: number;
  /** Equal to `createdAt` when the caller asked for no delay. */
  readonly notBefore: number;
  readonly url: string;
  readonly method: Method;
  /** The headers that the destination gets beside this service's own, with Content-Type if the caller gave one. */
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The fan-out that stores the body, once for all of its children. */
  readonly bodyOf?: MessageId;
  readonly policy: Policy;
  readonly origin: Origin;
  readonly turnOf?: TurnOf;
  /** Set on messages of a run. They are cancelled, released and logged with the run, never as messages. */
  readonly run?: InRun;
  /** W3C `traceparent` of the publish or run that made the message; set only when that trace is sampled. */
  readonly trace?: string;
};

/** A message without its body: what the log, the bus and the lists of messages hold. */
export type Configuration = Omit<Message, "body">;

export type MessageState =
  /** Waits for a turn of its queue, whose row has the alarm. */
  | { readonly kind: "queued"; readonly queue: QueueId }
  /** Waits for a time: delay, not-before, retry, Retry-After. `waitMs`: the length of the wait; absent if a caller set the time. */
  | { readonly kind: "held"; readonly dueAt: number; readonly waitMs?: number }
  /** Waits for a slot of its flow key, whose lane has the alarm. */
  | { readonly kind: "waiting"; readonly flow: FlowId }
  /** May be claimed now; with a grant of its lane, only until `grantUntil`. `hints` counts the rings without a claim. */
  | { readonly kind: "due"; readonly hints: number; readonly grantUntil?: number }
  | {
      readonly kind: "claimed";
      readonly owner: Owner;
      readonly leaseUntil: number;
      /** The lease was renewed since the claim, or since the call began: the call has not crashed its process so far. */
      readonly renewed?: true;
    }
  /** `runsUntil`, in a queue: until then the interrupted call may still run elsewhere, and the message's turn lasts. */
  | { readonly kind: "canceled"; readonly endedAt: number; readonly runsUntil?: number }
  | { readonly kind: Exclude<FinishedKind, "canceled">; readonly endedAt: number };

export const liveKinds = ["queued", "held", "waiting", "due", "claimed"] as const;
export type LiveKind = (typeof liveKinds)[number];
export const finishedKinds = ["delivered", "failed", "canceled"] as const;
export type FinishedKind = (typeof finishedKinds)[number];
export type StateKind = LiveKind | FinishedKind;

export type InState<K extends StateKind> = MessageRecord<Extract<MessageState, { kind: K }>>;

export type MessageRecord<S extends MessageState = MessageState> = {
  readonly message: Message;
  readonly state: S;
  /** The alarm: a scheduler looks again at this time. Undefined: the record has no alarm of its own (I3). */
  readonly wakeAt: number | undefined;
  /** Raised by claim and cancel; the fence of every worker's write (I4). */
  readonly epoch: number;
  /** Failed outcomes of the destination so far, which the destination sees as `-Retried`. */
  readonly retried: number;
  /** Claims whose leases have expired in a row, in parts of `lossOf`. */
  readonly leaseLosses: number;
  /** Infrastructure failures in a row, which cost the caller no retry. */
  readonly deferrals: number;
  /** Follow-ups of any attempt that are not yet safe elsewhere (I5). */
  readonly outbox: readonly FollowUp[];
};

export type Progress = Pick<MessageRecord, "state" | "retried"> & { readonly retriesMax: number };

export const progressOf = ({ message, retried, state }: MessageRecord): Progress => ({
  state,
  retried,
  retriesMax: message.policy.retriesMax,
});

const finished: ReadonlySet<StateKind> = new Set(finishedKinds);

export const isFinished = (
  state: MessageState,
): state is Extract<MessageState, { kind: FinishedKind }> => finished.has(state.kind);

export const isIn = <K extends StateKind>(record: MessageRecord, kind: K): record is InState<K> =>
  record.state.kind === kind;

/** Returns the bytes that a record takes in memory: its body and the answers in its outbox; the rest is small. */
export const sizeOf = ({ message, outbox }: Pick<MessageRecord, "message" | "outbox">): number =>
  outbox.reduce((bytes, { response }) => bytes + (response?.body.length ?? 0), message.body.length);

/** Returns the bytes that a call of the message sends: its body, or the history of its run. */
export const sentBytes = ({ body, run }: Pick<Message, "body" | "run">): number =>
  body.length + (run?.bytes ?? 0);

/** Estimates the size of a message without its body, in memory and as text: the caller's fields, and about a kilobyte of its own. */
export const configurationBytes = ({ headers, policy, url }: Configuration): number =>
  ownBytes +
  url.length +
  headerBytes(headers) +
  callbackBytes(policy.callback) +
  callbackBytes(policy.failureCallback);

const ownBytes = 1_024;
const callbackBytes = (plan: CallbackPlan | undefined): number =>
  plan ? plan.url.length + headerBytes(plan.headers) : 0;

function headerBytes(headers: Headers): number {
  let bytes = 0;
  for (const [name, value] of headers) bytes += name.length + value.length + separatorBytes;
  return bytes;
}
const separatorBytes = 6;
