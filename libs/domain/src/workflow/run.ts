/**
 * A run: a head, which is all of it that ever changes, and parts, which are written once (docs/design/runs#head-and-parts).
 * Every change of a run is one conditional write of its head.
 */
import { type RunFailureReason } from "../message/follow-up.ts";
import { type Headers } from "../message/headers.ts";
import { type CallbackPlan, type Dialect, type Method, type Policy } from "../message/message.ts";
import {
  type DlqId,
  type MessageId,
  type RunId,
  type RunKey,
  type TenantId,
} from "../shared/ids.ts";
import { type Order } from "./order.ts";

/** What the client announces that it can do; unknown ones are left out. */
export const features = ["WF_DetectTrigger", "WF_TriggerOnConfig"] as const;
export type Feature = (typeof features)[number];

/** Fixed at the start, and applied to every delivery of the run. */
export type RunPlan = {
  readonly features: readonly Feature[];
  /** The user's own, of every delivery to the run's endpoint. */
  readonly headers: Headers;
  readonly policy: RunPolicy;
  /** Started by a plain request, and by no client of workflows. */
  readonly isRequested?: true;
  /** Of the start, when it is sampled: each delivery of the run is part of it. */
  readonly trace?: string;
  /** Told once the run has failed. */
  readonly failureFunction?: CallbackPlan;
};

export type RunPolicy = Omit<Policy, "callback" | "failureCallback">;

export type RunFailure = {
  readonly dlqId: DlqId;
  /** Of the delivery that failed. */
  readonly at: PartName;
  /** It is a dead letter until that is removed. */
  readonly inDlq: boolean;
  /** What tells of it. Absent: nothing does. */
  readonly function?: FailureFunction;
  readonly reason: RunFailureReason;
  readonly error?: string;
  readonly status?: number;
};

/** `round`: the last, from 1. */
export type FailureFunction = {
  readonly round: number;
  readonly state: "running" | "succeeded" | "failed" | "canceled";
};

/** What a run waits for beside its deliveries. At most one for each step; it ends with the step's result. */
export type Pending =
  /** `isAnswered`: the third party has had its last call, and the endpoint is told. */
  | { readonly kind: "call"; readonly step: number; readonly isAnswered: boolean }
  | {
      readonly kind: "wait";
      readonly step: number;
      readonly event: string;
      /** Ends it. Absent: the build that placed the wait did not say, and either does. */
      readonly by?: EventWay;
      readonly deadline: number;
    }
  /**
   * Another run, of which the step has the end as its result. `startBy`: there until that is started. `isLogged`: this run
   * had ended before that one, and has its end for the log alone.
   */
  | {
      readonly kind: "invoke";
      readonly step: number;
      readonly childId: RunId;
      readonly childRoot: MessageId;
      readonly startBy?: number;
      readonly isLogged?: true;
    };

/** Callers of the API tell events; a webhook's come without a token, by its address. Neither ends a wait for the other. */
export type EventWay = "told" | "webhook";

/** An event that came for a run before its wait. */
export type Note = {
  readonly event: string;
  readonly part: PartName;
  /** Absent: the build that kept the event did not say, and either kind of wait takes it. */
  readonly by?: EventWay;
  /** Bytes of the event's body. */
  readonly bytes?: number;
};

type Events = {
  readonly notes: readonly Note[];
  /**
   * Events of the webhooks that the run has made, the latest. No other has an address. Absent: the run began under a build
   * that did not say, and any event has one.
   */
  readonly hooks?: readonly string[];
};

export type RunState =
  /** `behind`: the use of its id before it, deliveries of which may be under way: until they are over none of its own begins. */
  | ({
      readonly kind: "active";
      readonly pending: readonly Pending[];
      readonly behind?: RunRef;
    } & Events)
  | ({ readonly kind: "succeeded" | "canceled" } & Ended)
  /** The events of a failed run are those of the run that may go on from here. */
  | ({ readonly kind: "failed"; readonly failure: RunFailure } & Events & Ended);

type Ended = {
  readonly endedAt: number;
  /** As it was. */
  readonly pending: readonly Pending[];
  /** There until those that wait for its end know of it. */
  readonly answerBy?: number;
  /** There until what was still to be delivered is dropped. */
  readonly dropBy?: number;
};

export type RunRef = { readonly key: RunKey; readonly root: MessageId };

/** The step that has invoked a run. */
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
  /** The uses of an id are counted: it is free again when its run has ended. */
  readonly generation: number;
  /** The id of the start's message, and the beginning of all message ids of the run. */
  readonly root: MessageId;
  readonly tenant: TenantId;
  readonly dialect: Dialect;
  /** Of its head and of its records. */
  readonly shard: number;
  /** Absent: 1 (ADR 27). Its records have it, too, where it is above their own. */
  readonly format?: number;
  readonly url: string;
  readonly callerIp: string;
  /** Later than that of the generation before: id and time together name one run. */
  readonly createdAt: number;
  readonly plan: RunPlan;
  readonly invoker?: Invoker;
  /** Runs that were resumed after their invocation of this one, and wait for its end as well. */
  readonly heirs?: readonly Invoker[];
  /** The failed run that it goes on from, or begins again. */
  readonly from?: RunKey;
  /** Those of the runs that it goes on from: what is addressed to them finds it. */
  readonly aliases?: readonly RunId[];
  readonly state: S;
  /** Of a start in two phases: its endpoint is asked to start the run itself, and has done so. Absent: it is not asked. */
  readonly adoption?: "awaited" | "done";
  /**
   * Whether its endpoint marks its answers, by that to the start: `expected` until one without the mark is known. Absent: the
   * run began under a build that did not look.
   */
  readonly marks?: "expected" | "none";
  readonly history: Order;
  /** Of the history, as a delivery of all of it carries it. */
  readonly bytes: number;
  /** The highest step that is planned or done. */
  readonly reached: number;
  /** The fence of every change. */
  readonly version: number;
};
export type RunIn<K extends RunState["kind"]> = Run<Extract<RunState, { kind: K }>>;

/** What every change does. */
export const changedRun = <R extends Run>(run: R): R => ({ ...run, version: run.version + 1 });

export const isActive = (run: Run): run is RunIn<"active"> => run.state.kind === "active";
export const isFailed = (run: Run): run is RunIn<"failed"> => run.state.kind === "failed";

/**
 * `start`, `p3` the plan of step 3, `s3` its result, `c3` the call that it makes, `a3` what that was answered, `w3` its wait, `v3` its invocation, `i3` when the run that this started was created, `n7` an event that came before its wait, `e` what the run returned, `x` the answer that failed it, `h` the
 * headers of that where no `f` says them, `f` its failure function. Message ids of a run are made of them.
 */
export type PartName = string;

/** What is written once, before the head that names it. */
export type RunPart = {
  readonly name: PartName;
  readonly at: number;
  readonly body: Uint8Array;
  /** Of an entry. */
  readonly rank?: number;
  /** How it is delivered, where that is not as most are. */
  readonly sent?: EntryDelivery;
};

/** As the publish of the entry asks for it. */
export type EntryDelivery = {
  readonly url: string;
  readonly method: Method;
  readonly headers: Headers;
  readonly notBefore: number;
  readonly callerIp: string;
  readonly hop: number;
  /** Counts where the run's plan does not: clients of before send it with each step. */
  readonly policy: Policy;
  /** The endpoint that has published it fetches a history that is not sent. */
  readonly fetches?: true;
  /** As its endpoint calls the step. */
  readonly stepName?: string;
};

/** Of an entry: what its delivery carries, in the order of the history. */
export type HistoryEntry = { readonly messageId: MessageId; readonly body: Uint8Array };
