/**
 * A run is a head, the only part of it that changes, and parts, which are written once (docs/design/runs#head-and-parts).
 * Every change of a run is one conditional write of its head.
 */
import { type RunFailureReason, type AttemptFact } from "../message/follow-up.ts";
import { type Headers } from "../message/headers.ts";
import { type Dialect, type InRun } from "../message/message.ts";
import { type CallbackPlan, type Method, type Policy } from "../message/policy.ts";
import {
  type DlqId,
  type MessageId,
  type RunId,
  type RunKey,
  type TenantId,
} from "../shared/ids.ts";
import { runAttemptsMax } from "../shared/limits.ts";
import { type Order } from "./order.ts";
import { type PartName } from "./part-key.ts";

/** Features that a client announces; unknown ones are left out. */
export const features = ["WF_DetectTrigger", "WF_TriggerOnConfig"] as const;
export type Feature = (typeof features)[number];

/** Fixed at the start, and applied to every delivery of the run. */
export type RunPlan = {
  readonly features: readonly Feature[];
  /** The caller's headers for every delivery to the run's endpoint. */
  readonly headers: Headers;
  readonly policy: RunPolicy;
  /** Set when a plain request, not a client of workflows, started the run. */
  readonly isRequested?: true;
  /** The trace of the start, when it is sampled: each delivery of the run belongs to it. */
  readonly trace?: string;
  /** Told once the run has failed. */
  readonly failureFunction?: CallbackPlan;
};

export type RunPolicy = Omit<Policy, "callback" | "failureCallback">;

export type RunFailure = {
  readonly dlqId: DlqId;
  readonly at: PartName;
  /** Whether the run is a dead letter, until that is removed. */
  readonly inDlq: boolean;
  /** The failure function. Absent if nothing reports the failure. */
  readonly function?: FailureFunction;
  readonly reason: RunFailureReason;
  readonly error?: string;
  readonly status?: number;
};

/** `round`: the last one, counted from 1. */
export type FailureFunction = {
  readonly round: number;
  readonly state: "running" | "succeeded" | "failed" | "canceled";
};

/** A wait of a run beside its deliveries: at most one for each step, which ends with the step's result. */
export type Pending =
  /** `isAnswered`: the call has ended, and its answer is being delivered. */
  | { readonly kind: "call"; readonly step: number; readonly isAnswered: boolean }
  | {
      readonly kind: "wait";
      readonly step: number;
      readonly event: string;
      /** How the event that ends the wait comes. Absent if the build that made the wait did not say; then either way ends it. */
      readonly by?: EventWay;
      readonly deadline: number;
    }
  /**
   * Another run, whose end is the step's result. `startBy`: when the alarm starts that run; present until it is
   * started. `isLogged`: this run had ended before the other, and has the other's end only for its log.
   */
  | {
      readonly kind: "invoke";
      readonly step: number;
      readonly childId: RunId;
      readonly childRoot: MessageId;
      readonly startBy?: number;
      readonly isLogged?: true;
    };

/**
 * How an event comes: from a caller of the API, or by a webhook, which needs no token, only the webhook's address. An
 * event of one way does not end a wait for the other.
 */
export type EventWay = "told" | "webhook";

/** An event that came for a run before its wait. */
export type Note = {
  readonly event: string;
  readonly part: PartName;
  /** Absent if the build that kept the event did not say; then either kind of wait takes it. */
  readonly by?: EventWay;
  readonly bytes?: number;
};

type Events = {
  readonly notes: readonly Note[];
  /**
   * Events of the run's webhooks, the latest `runHooksMax`; only they have an address. Absent if the run began under
   * a build that did not say; then any event has an address.
   */
  readonly hooks?: readonly string[];
};

export type RunState =
  /** `behind`: the previous use of its id, whose deliveries may be under way. Until they are over no delivery of this run begins. */
  | ({
      readonly kind: "active";
      readonly pending: readonly Pending[];
      readonly behind?: RunRef;
    } & Events)
  | ({ readonly kind: "succeeded" | "canceled" } & Ended)
  /** The events of a failed run go to the run that resumes it. */
  | ({ readonly kind: "failed"; readonly failure: RunFailure } & Events & Ended);

type Ended = {
  readonly endedAt: number;
  /** The waits that were open when the run ended. */
  readonly pending: readonly Pending[];
  /** When the alarm reports the end to the invokers; present until they have it. */
  readonly answerBy?: number;
  /** When the alarm drops undelivered messages; present until they are dropped. */
  readonly dropBy?: number;
};

export type RunRef = { readonly key: RunKey; readonly root: MessageId };

export type Invoker = {
  readonly key: RunKey;
  readonly root: MessageId;
  readonly id: RunId;
  readonly url: string;
  readonly createdAt: number;
  readonly step: number;
};

export type Run<S extends RunState = RunState> = {
  readonly key: RunKey;
  readonly id: RunId;
  /** The number of the use of its id: an id may be used again when its run has ended. */
  readonly generation: number;
  /** The id of the start's message, and the beginning of all message ids of the run. */
  readonly root: MessageId;
  readonly tenant: TenantId;
  readonly dialect: Dialect;
  /** The shard of the head and of the run's records. */
  readonly shard: number;
  /** Absent for format 1 (ADR 27). The run's records have this format if it is above their own. */
  readonly format?: number;
  readonly url: string;
  readonly callerIp: string;
  /** Later than that of the previous use: id and time together name one run. */
  readonly createdAt: number;
  readonly plan: RunPlan;
  readonly invoker?: Invoker;
  /** Runs that were resumed after invoking this one, and that wait for its end as well. */
  readonly heirs?: readonly Invoker[];
  /** The failed run that this run resumes or restarts. */
  readonly from?: RunKey;
  /** Ids of the runs that this run resumes: requests that name one of them find this run. */
  readonly aliases?: readonly RunId[];
  readonly state: S;
  /**
   * The progress of a start in two phases: the endpoint is asked to start the run itself, or has done so. Absent if
   * the start has one phase.
   */
  readonly adoption?: "awaited" | "done";
  /**
   * Whether the endpoint marks its answers, by the answer to the start: `expected` until an answer without the mark
   * is known. Absent if the run began under a build that did not check.
   */
  readonly marks?: "expected" | "none";
  readonly history: Order;
  /** Bytes of the history, as a delivery of all of it carries it. */
  readonly bytes: number;
  /** The highest step that is planned or done. */
  readonly reached: number;
  /** The fence of every change. */
  readonly version: number;
};
export type RunIn<K extends RunState["kind"]> = Run<Extract<RunState, { kind: K }>>;

export const changedRun = <R extends Run>(run: R): R => ({ ...run, version: run.version + 1 });

export const isActive = (run: Run): run is RunIn<"active"> => run.state.kind === "active";
export const isFailed = (run: Run): run is RunIn<"failed"> => run.state.kind === "failed";

/** Written once, before the head that names it. */
export type RunPart = {
  readonly name: PartName;
  readonly at: number;
  readonly body: Uint8Array;
  readonly rank?: number;
  /** How the part is delivered, if not in the usual way. */
  readonly sent?: EntryDelivery;
};

/** How an entry is delivered, as its publish asks for. */
export type EntryDelivery = {
  readonly url: string;
  readonly method: Method;
  readonly headers: Headers;
  readonly notBefore: number;
  readonly callerIp: string;
  readonly hop: number;
  /** Applies if the run's plan does not apply to steps: older clients send a policy with each step. */
  readonly policy: Policy;
  /** The endpoint that published the entry fetches the history, which is not sent. */
  readonly fetches?: true;
  /** The endpoint's name of the step. */
  readonly stepName?: string;
};

/** An entry as deliveries carry it, in the order of the history. */
export type HistoryEntry = { readonly messageId: MessageId; readonly body: Uint8Array };

/** A failed attempt of a run's delivery that was followed by another. All other effects of an attempt are in the run itself. */
export type RunAttempt = { readonly part: PartName; readonly fact: AttemptFact };

/** Returns the attempt to remove when `attempt` is stored: the latest `runAttemptsMax` of one delivery are kept. */
export const attemptReplacedBy = (attempt: number): number | undefined =>
  attempt < runAttemptsMax ? undefined : attempt - runAttemptsMax;

export type ToldAttempt = {
  readonly run: Pick<InRun, "root" | "part">;
  readonly fact: AttemptFact;
};

export const byTime = (a: RunAttempt, b: RunAttempt): number =>
  a.fact.endedAt - b.fact.endedAt ||
  (a.part < b.part ? -1 : a.part > b.part ? 1 : a.fact.attempt - b.fact.attempt);
