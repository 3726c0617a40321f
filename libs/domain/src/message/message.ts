/**
 * The record: one message, one alarm (docs/design/record#the-alarm).
 *
 * `Message` is fixed when the message is accepted; `MessageRecord` is its moving part. All changes of the moving part
 * are the transitions of this folder, each taking the state that it is legal from.
 */
import { type FlowLimits } from "../lane/flow-control.ts";
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

export const dialects = ["service", "upstash"] as const;
export type Dialect = (typeof dialects)[number];
export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

/** What is replaced by `REDACTED:<sha256>` in every read; delivery uses the originals. Header names are lower case. */
export type Redaction = { readonly body: boolean; readonly headers: "all" | readonly string[] };

/** A callback to make after attempts of a message; absent settings are inherited from the message. */
export type CallbackPlan = {
  readonly url: string;
  readonly method: Method;
  readonly headers: Headers;
  readonly delayMs: number;
  readonly timeoutMs: number;
  readonly retriesMax?: number;
  readonly retryDelay?: string;
  readonly labels?: readonly string[];
  readonly flow?: { readonly key: string; readonly limits: FlowLimits };
  /** The callback of a run's call that is told once the delivery of the call's answer has failed for good. */
  readonly failureCallback?: CallbackPlan;
};

export type Policy = {
  readonly timeoutMs: number;
  readonly retriesMax: number;
  /** Expression for the delay in milliseconds, checked at publish; absent: the default back-off. */
  readonly retryDelay?: string;
  readonly callback?: CallbackPlan;
  readonly failureCallback?: CallbackPlan;
  readonly redaction?: Redaction;
  readonly labels: readonly string[];
  readonly flow?: { readonly key: string; readonly limits: FlowLimits };
};

/** What the operator has a provider for. */
export type Api = "llm";

export type Origin = {
  readonly callerIp: string;
  readonly group?: { readonly name: string; readonly endpointName?: string };
  readonly scheduleId?: string;
  readonly queueName?: string;
  /** Its destination is the operator's provider, whose key the deliverer adds. */
  readonly api?: Api;
  /** Set on callbacks and failure callbacks: they have no callbacks of their own. */
  readonly callbackOf?: MessageId;
  /** The message that failed, and its dead letter, which this message is a retry of. */
  readonly retryOf?: { readonly message: MessageId; readonly letter: DlqId };
  /** Times this chain of messages has passed through us (docs/design/delivery#loops). */
  readonly hop: number;
};

/** The message of a queue that a callback tells of: its turn is not over before its callbacks have ended. */
export type TurnOf = { readonly queue: QueueId; readonly id: MessageId };

/** A message that is a delivery of a run. */
export type InRun = {
  readonly key: RunKey;
  readonly id: RunId;
  readonly root: MessageId;
  /** Of the run, see `PartName`. */
  readonly part: string;
  /** Of the run. */
  readonly createdAt: number;
  /** At most so many are sent beside the body: the history up to its entry. */
  readonly bytes: number;
  /** Its destination must answer as a workflow does; and what has started the run, which decides the words of a failure. */
  readonly detects?: "client" | "request";
  /** It asks its destination to start the run itself, which says what that speaks. */
  readonly probes?: true;
  /** Its endpoint fetches a history that is not sent. */
  readonly fetches?: true;
  /** As its endpoint calls the step that it says, or asks for; there when it is traced. */
  readonly stepName?: string;
  /** The use of the run's id before it: while that is being delivered, this is not. */
  readonly behind?: { readonly key: RunKey; readonly root: MessageId };
};

export type Message = Lanes & {
  readonly id: MessageId;
  /** Of the record, see `isUnderstood`; absent: 1. */
  readonly format?: number;
  readonly tenant: TenantId;
  readonly dialect: Dialect;
  readonly shard: number;
  readonly createdAt: number;
  /** Equal to `createdAt` when the caller asked for no delay. */
  readonly notBefore: number;
  readonly url: string;
  readonly method: Method;
  /** What the destination gets beside our own headers; holds Content-Type when the caller gave one. */
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** The body is stored with this fan-out, once for all of its children. */
  readonly bodyOf?: MessageId;
  readonly policy: Policy;
  readonly origin: Origin;
  readonly turnOf?: TurnOf;
  /** Cancelled, released and logged with its run, never as a message. */
  readonly run?: InRun;
  /** W3C `traceparent` of what made it; there when its trace is sampled, and for no other. */
  readonly trace?: string;
};

/** A message without its body: what the log, the bus and the lists of messages hold of it. */
export type Configuration = Omit<Message, "body">;

export type MessageState =
  /** Waits for a turn of its queue, whose row has the alarm. */
  | { readonly kind: "queued"; readonly queue: QueueId }
  /** Waits for a time: delay, not-before, retry, Retry-After. `waitMs`: from when it was told; absent where a caller named the time. */
  | { readonly kind: "held"; readonly dueAt: number; readonly waitMs?: number }
  /** Waits for a slot of its flow key, whose lane has the alarm. */
  | { readonly kind: "waiting"; readonly flow: FlowId }
  /** May be claimed now; with a grant of its lane, only until `grantUntil`. `hints` counts the rings without a claim. */
  | { readonly kind: "due"; readonly hints: number; readonly grantUntil?: number }
  /** An attempt is running. */
  | {
      readonly kind: "claimed";
      readonly owner: Owner;
      readonly leaseUntil: number;
      /** Since its claim, or since its call began: that has not taken its process down so far. */
      readonly renewed?: true;
    }
  /** Of one in a queue: until `runsUntil` the call that was cut short may still run elsewhere, and its turn lasts. */
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
  /** The alarm: a scheduler looks again at this time. Undefined: none of its own (I3). */
  readonly wakeAt: number | undefined;
  /** Raised by claim and cancel; the fence of every worker's write (I4). */
  readonly epoch: number;
  /** Destination outcomes so far that were failures; what the destination sees as `-Retried`. */
  readonly retried: number;
  /** Claims whose process was not heard of again, in parts: `lossOf`. */
  readonly leaseLosses: number;
  /** Failures of ours in a row: they cost the caller no retry. */
  readonly deferrals: number;
  /** Follow-ups of any attempt that are not yet safe elsewhere (I5). */
  readonly outbox: readonly FollowUp[];
};

/** How far a message has come, without what it carries. */
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
