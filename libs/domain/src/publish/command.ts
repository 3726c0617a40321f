/** A publish as the caller meant it: parsed once at the door, trusted inside. */
import { type RunId, type ScheduleId, type TenantId } from "../shared/ids.ts";
import { type Headers } from "../message/headers.ts";
import { type StepKey } from "../workflow/order.ts";
import { type Feature } from "../workflow/run.ts";
import { type Api, type Dialect, type Method, type Policy } from "../message/message.ts";

export type Destination =
  | { readonly kind: "url"; readonly url: string; readonly api?: Api }
  | { readonly kind: "group"; readonly name: string };

export type Deduplication =
  | { readonly kind: "explicit"; readonly id: string }
  | { readonly kind: "content" };

/** When the delivery may start; `at` is Unix milliseconds. Absent: now. */
export type Postponement =
  | { readonly kind: "delay"; readonly delayMs: number }
  | { readonly kind: "notBefore"; readonly at: number };

/** What a publish is for a run: its start, or an entry of its history. */
export type RunPublish =
  | RunStart
  | {
      readonly kind: "invoke";
      /** The start of the child, which the rest of the command is of. */
      readonly child: RunStart;
      /** The step that has the end of the child as its result, as its publish would be. */
      readonly answer: PublishCommand;
      readonly step: Readonly<Record<string, unknown>>;
    }
  /**
   * `stepName`: as its endpoint calls the step; for traces. `fetches`: its endpoint fetches a history that is not sent. `hook`: the event of a webhook that the step has made.
   */
  | (RunOf & {
      readonly kind: "entry";
      readonly key: StepKey;
      readonly stepName?: string;
      readonly fetches?: true;
      readonly hook?: string;
    })
  /** A call to a third party, which is the destination. Its policy names the endpoint that is told the answer. */
  | (RunOf & { readonly kind: "call"; readonly step: number });

type RunStart = {
  readonly kind: "start";
  readonly id: RunId;
  readonly features: readonly Feature[];
  /** The user's own, of every delivery of the run. */
  readonly headers: Headers;
  /** Of two phases: `probes` asks the endpoint to start the run itself, which is a start that `adopts` it. */
  readonly phase?: "probes" | "adopts";
  /** By a plain request, and by no client of workflows. */
  readonly isRequested?: true;
};

/** Without a time the newest use of the id is meant. */
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
  /** Name of the queue that it gets into line of. */
  readonly queue?: string;
  readonly callerIp: string;
  readonly hop: number;
  /** Set on messages of a schedule. */
  readonly schedule?: ScheduleId;
  readonly run?: RunPublish;
  /** See `Message.trace`. */
  readonly trace?: string;
};

/** Unix milliseconds; never before `now`. */
export function notBeforeOf(
  { postponement }: Pick<PublishCommand, "postponement">,
  now: number,
): number {
  if (!postponement) return now;
  return postponement.kind === "delay"
    ? now + postponement.delayMs
    : Math.max(postponement.at, now);
}

/**
 * The same of a step of a run. The SDK rounds the time of its `sleepUntil` to the nearest second, which may be half a second
 * sooner than its caller said: whole seconds wait that half second more.
 */
export function notBeforeOfStep(command: Pick<PublishCommand, "postponement">, now: number) {
  const { postponement } = command;
  return postponement?.kind === "notBefore" && postponement.at % secondMs === 0
    ? Math.max(postponement.at + roundedMs, now)
    : notBeforeOf(command, now);
}

const secondMs = 1_000;
const roundedMs = secondMs / 2;
