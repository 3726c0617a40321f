/** A configuration header as a row: its name, the values that it takes, and where the value goes. */
import {
  type CallbackPlan,
  type Cron,
  type Dialect,
  type Fault,
  type Feature,
  type HeaderPair,
  type Method,
  type Plan,
  type Policy,
  type Redaction,
  type ScheduleId,
  fault,
} from "@posthaste/domain";

/** A header as the caller wrote it; the value is trimmed. */
export type Field = { readonly name: string; readonly value: string; readonly dialect: Dialect };

/** The bounds against which a value is checked, beside its own form. */
export type Bounds = {
  readonly plan: Plan;
  /** Unix milliseconds. */
  readonly now: number;
  /** Returns undefined when the expression is valid for every retry up to `retriesMax`. */
  readonly checkRetryDelay: (
    expression: string,
    retriesMax: number,
    field: string,
  ) => Fault | undefined;
  /** Asked before an unknown expression is read; a fault that it returns is the answer. */
  readonly spendExpression: (field: string) => Fault | undefined;
  /**
   * Returns the text that is dialled, shown and signed (ADR 130), or a fault. The fault names the field, except for the
   * destination.
   */
  readonly readUrl: ReadUrl;
  readonly leaveOut: LeaveOut;
};

/** Told the name of a header that a request does not hand on. */
export type LeaveOut = (name: string) => void;

/** A header that is refused when a caller names it. `isSent`: where headers are handed on, this one can be sent as it is. */
type Unfit = { readonly name: string; readonly isSent: boolean; readonly refusal: Fault };

export type ReadUrl = (given: string, field: string) => string | Fault;

/** The settings of one request: of the message itself, or of one of its callbacks. */
export type RequestDraft = {
  readonly forwarded: HeaderPair[];
  /** Headers that a caller must not name one by one. */
  unfit?: readonly Unfit[];
  /** A forwarded Host. Only a message of a run may have one, and there it has no effect. */
  host?: Field;
  method?: Method;
  timeoutMs?: number;
  retriesMax?: number;
  retryDelay?: Field;
  delayMs?: number;
  labels?: readonly string[];
  flowKey?: Field;
  flowLimits?: Field & { readonly limits: NonNullable<Policy["flow"]>["limits"] };
};

/** The settings of a schedule beside its message, each with the header that gave it. */
type ScheduleDraft = {
  cron?: { readonly field: Field; readonly cron: Cron };
  id?: { readonly field: Field; readonly id: ScheduleId };
  dryRun?: { readonly field: Field; readonly isDry: boolean };
};

export type RunDraft = {
  id?: Field;
  starts?: boolean;
  createdAt?: number;
  callType?: Field;
  version?: Field;
  invokes?: boolean;
  phase?: "probes" | "adopts" | undefined;
  features?: readonly Feature[];
  /** The client announces that its endpoint fetches a history, which clients in JavaScript can do. */
  announcesFetch?: boolean;
  isJavaScript?: boolean;
};

/** A publish in the making: filled by one pass over the headers, and turned into a command by `completeCommand`. */
export type PublishDraft = {
  readonly message: RequestDraft;
  readonly callback: RequestDraft;
  readonly failureCallback: RequestDraft;
  callbackUrl?: CallbackPlan["url"];
  failureCallbackUrl?: CallbackPlan["url"];
  /** The callback that is told once the delivery of a call's answer has failed for good. */
  readonly answerFailure: RequestDraft;
  answerFailureUrl?: CallbackPlan["url"];
  notBefore?: { readonly field: Field; readonly at: number };
  deduplicationId?: string;
  contentBased?: boolean;
  redaction?: Redaction;
  queue?: Field;
  forwardsAll?: boolean;
  /** Type, encoding and language of the body. */
  readonly representation: HeaderPair[];
  hop?: number;
  readonly schedule: ScheduleDraft;
  readonly run: RunDraft;
};

export type Setting<Draft> = {
  /** The name without its prefix, in its canonical form. */
  readonly suffix: string;
  /** The value is text in UTF-8, not ASCII alone. */
  readonly isUrl?: true;
  /** What the header means, with its unit, for the documents and for help. */
  readonly rule: string;
  /** The value that holds where the header is not given. */
  readonly fallback: string;
  readonly example: string;
  readonly take: (field: Field, draft: Draft, bounds: Bounds) => Fault | undefined;
};

export const malformed = (field: Pick<Field, "name">, must: string): Fault =>
  fault("malformed", `${field.name}: ${must}`);
