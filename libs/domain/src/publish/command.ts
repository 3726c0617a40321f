/** A publish as the caller meant it: parsed once by the contract, trusted everywhere else. */
import { type RunId, type ScheduleId, type TenantId } from "../shared/ids.ts";
import { type Headers } from "../message/headers.ts";
import { type StepKey } from "../workflow/order.ts";
import { type Feature } from "../workflow/run.ts";
import { type Api, type Dialect } from "../message/message.ts";
import { type Method, type Policy } from "../message/policy.ts";

export type Destination =
  | { readonly kind: "url"; readonly url: string; readonly api?: Api }
  | { readonly kind: "group"; readonly name: string };

export type Deduplication =
  | { readonly kind: "explicit"; readonly id: string }
  | { readonly kind: "content" };

/** The earliest start of the delivery; `at` is Unix milliseconds. Absent for now. */
export type Postponement =
  | { readonly kind: "delay"; readonly delayMs: number }
  | { readonly kind: "notBefore"; readonly at: number };

/** The effect of a publish on a run: it starts the run, or adds an entry to its history. */
export type RunPublish =
  | RunStart
  | {
      readonly kind: "invoke";
      /** The start of the child. The rest of the command belongs to the child. */
      readonly child: RunStart;
      /** The publish of the step whose result is the end of the child. */
      readonly answer: PublishCommand;
      readonly step: Readonly<Record<string, unknown>>;
    }
  /**
   * `stepName`: the endpoint's name of the step, for traces. `fetches`: the endpoint fetches a history that is not sent.
   * `hook`: the event of a webhook that the step has made.
   */
  | (RunOf & {
      readonly kind: "entry";
      readonly key: StepKey;
      readonly stepName?: string;
      readonly fetches?: true;
      readonly hook?: string;
    })
  /** A call to a third party, which is the destination. The command's policy names the endpoint that gets the answer. */
  | (RunOf & { readonly kind: "call"; readonly step: number });

type RunStart = {
  readonly kind: "start";
  readonly id: RunId;
  readonly features: readonly Feature[];
  /** The caller's headers for every delivery of the run. */
  readonly headers: Headers;
  /** A start in two phases: `probes` asks the endpoint to start the run itself; the endpoint's start then `adopts` it. */
  readonly phase?: "probes" | "adopts";
  /** Set when a plain request, not a client of workflows, starts the run. */
  readonly isRequested?: true;
};

/** Without `createdAt`, the newest use of the id. */
type RunOf = { readonly id: RunId; readonly createdAt?: number };

export type PublishCommand = {
  readonly tenant: TenantId;
  readonly dialect: Dialect;
  readonly destination: Destination;
  readonly method: Method;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly policy: Policy;
  readonly postponement?: Postponement;
  readonly deduplication?: Deduplication;
  readonly queue?: string;
  readonly callerIp: string;
  readonly hop: number;
  /** Set on messages of a schedule. */
  readonly schedule?: ScheduleId;
  readonly run?: RunPublish;
  /** See `Message.trace`. */
  readonly trace?: string;
};

/** A publish for a run. It goes to a URL: that of the run's endpoint, or of the third party that a step calls. */
export type RunCommand<Kind extends RunPublish["kind"]> = UrlCommand & {
  readonly run: Extract<RunPublish, { kind: Kind }>;
};

export type UrlCommand = PublishCommand & {
  readonly destination: Extract<Destination, { kind: "url" }>;
};
