/** A configuration header as a row: its name, its values, the member that gets the value, and its meaning in a retry. */
import {
  type CallbackPlan,
  type CallbackSettings,
  type Cron,
  type Dialect,
  type Fault,
  type Feature,
  type HeaderPair,
  type Method,
  type Plan,
  type Policy,
  type ScheduleId,
  fault,
  isFault,
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
  /** Called before an unknown expression is read. A fault that it returns is the answer. */
  readonly spendExpression: (field: string) => Fault | undefined;
  /** Returns the text that is dialled, shown and signed (ADR 130), or a fault. The fault names the field, except for the destination. */
  readonly readUrl: ReadUrl;
  readonly leaveOut: LeaveOut;
};

/** Called with the name of a header that a request does not pass on. */
export type LeaveOut = (name: string) => void;

/** A header that is refused when a caller names it. `isSent`: when headers are passed on, this one can be sent as it is. */
type Unfit = { readonly name: string; readonly isSent: boolean; readonly refusal: Fault };

export type ReadUrl = (given: string, field: string) => string | Fault;

type Given<Settings> = { -readonly [Key in keyof Settings]?: Settings[Key] };

/** The headers that the caller gives for one request: the message itself, or one of its callbacks. */
export type RequestDraft = {
  /** The settings under their names in the policy. `settingsOf` adds those that several headers make. */
  readonly settings: Given<CallbackSettings>;
  readonly forwarded: HeaderPair[];
  /** Headers that a caller must not name one by one. */
  unfit?: readonly Unfit[];
  /** A forwarded Host. Only a message of a run may have one, and there it has no effect. */
  host?: Field;
  method?: Method;
  retryDelay?: Field;
  delayMs?: number;
  flowKey?: Field;
  flowLimits?: Field & { readonly limits: NonNullable<Policy["flow"]>["limits"] };
};

/** The settings of a schedule beside its message, each with the header that gave it. */
export type ScheduleDraft = {
  cron?: { readonly field: Field; readonly cron: Cron };
  id?: { readonly field: Field; readonly id: ScheduleId };
  dryRun?: { readonly field: Field; readonly isDry: boolean };
};

type RunDraft = {
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
  readonly message: RequestDraft & { readonly settings: Given<Policy> };
  /** Callbacks and a schedule are absent until a header of theirs has been read. */
  callback?: RequestDraft;
  failureCallback?: RequestDraft;
  callbackUrl?: CallbackPlan["url"];
  failureCallbackUrl?: CallbackPlan["url"];
  /** The callback that is called once the delivery of a call's answer has failed for good. */
  answerFailure?: RequestDraft;
  answerFailureUrl?: CallbackPlan["url"];
  notBefore?: { readonly field: Field; readonly at: number };
  deduplicationId?: string;
  contentBased?: boolean;
  queue?: Field;
  forwardsAll?: boolean;
  /** Type, encoding and language of the body. */
  readonly representation: HeaderPair[];
  hop?: number;
  schedule?: ScheduleDraft;
  readonly run: RunDraft;
};

/** The texts about a header in the documents and in help. */
export type HeaderRule = {
  /** The name without its prefix, in its canonical form. */
  readonly suffix: string;
  /** The meaning of the header, with its unit. */
  readonly rule: string;
  /** The value that applies if the header is not given. */
  readonly fallback: string;
  readonly example: string;
};

/** Reads the value of a header. */
export type Reader<Value> = (field: Field, bounds: Bounds) => Exclude<Value, undefined> | Fault;

export type Header<Value> = HeaderRule & {
  /** The value is text in UTF-8, not only ASCII. */
  readonly isUrl?: true;
  readonly read: Reader<Value>;
  /** Says whether the header of a retried dead letter changes the stored message, is ignored, or is refused. */
  readonly retry: "changes" | "passed" | "refused";
};

export type Setting<Draft> = {
  readonly [Key in keyof Draft]-?: Header<Draft[Key]> & { readonly key: Key };
}[keyof Draft];

/** Makes a result of a valid value, and returns a fault. */
export const made = <T, Made>(value: T | Fault, make: (value: T) => Made): Made | Fault =>
  isFault(value) ? value : make(value);

export const malformed = (field: Pick<Field, "name">, must: string): Fault =>
  fault("malformed", `${field.name}: ${must}`);
