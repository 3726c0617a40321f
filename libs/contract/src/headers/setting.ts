/** A configuration header as a row: how it is called, what it may hold, and where its value lands. */
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

/** What a value is judged against beside its own form. */
export type Bounds = {
  readonly plan: Plan;
  /** Unix milliseconds. */
  readonly now: number;
  /** Undefined when the expression is fine for every retry up to `retriesMax`. */
  readonly checkRetryDelay: (
    expression: string,
    retriesMax: number,
    field: string,
  ) => Fault | undefined;
  /** Asked before an expression is read that is not known; what it answers is the answer then. */
  readonly spendExpression: (field: string) => Fault | undefined;
  /** The text that is dialled, shown and signed (ADR 130); a fault that names the field, but for the destination itself. */
  readonly readUrl: ReadUrl;
  readonly leaveOut: LeaveOut;
};

/** Told the name of a header that a request does not hand on. */
export type LeaveOut = (name: string) => void;

/** A header that is refused where a caller names it. `isSent`: where it is handed on it can be sent as it is. */
type Unfit = { readonly name: string; readonly isSent: boolean; readonly refusal: Fault };

export type ReadUrl = (given: string, field: string) => string | Fault;

/** The settings of one request: of the message itself, or of one of its two callbacks. */
export type RequestDraft = {
  readonly forwarded: HeaderPair[];
  /** Headers that a caller must not name one by one. */
  unfit?: readonly Unfit[];
  /** Forwarded, which only a message of a run may do: there it comes to nothing. */
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

/** What a schedule has beside its message; each with the header that said it. */
type ScheduleDraft = {
  cron?: { readonly field: Field; readonly cron: Cron };
  id?: { readonly field: Field; readonly id: ScheduleId };
  dryRun?: { readonly field: Field; readonly isDry: boolean };
};

/** What a publish is for a run. */
export type RunDraft = {
  id?: Field;
  starts?: boolean;
  createdAt?: number;
  callType?: Field;
  version?: Field;
  invokes?: boolean;
  phase?: "probes" | "adopts" | undefined;
  features?: readonly Feature[];
  /** It announces that its endpoint fetches a history; one in JavaScript can. */
  announcesFetch?: boolean;
  isJavaScript?: boolean;
};

/** A publish in the making: filled by one pass over the headers, turned into a command by `completeCommand`. */
export type PublishDraft = {
  readonly message: RequestDraft;
  readonly callback: RequestDraft;
  readonly failureCallback: RequestDraft;
  callbackUrl?: CallbackPlan["url"];
  failureCallbackUrl?: CallbackPlan["url"];
  /** The callback that is told when the delivery of a call's answer has failed for good. */
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
  /** For the documents and for help: what it means, with its unit. */
  readonly rule: string;
  /** The value that holds where the header is not given. */
  readonly fallback: string;
  /** A value that is taken. */
  readonly example: string;
  readonly take: (field: Field, draft: Draft, bounds: Bounds) => Fault | undefined;
};

export const malformed = (field: Pick<Field, "name">, must: string): Fault =>
  fault("malformed", `${field.name}: ${must}`);
