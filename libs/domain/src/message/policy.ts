/** The policy of a message: how long and how often it is tried, which callbacks it has, and which values are hidden. */
import { type FlowLimits } from "../lane/flow-control.ts";
import { type Headers } from "./headers.ts";

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

/** The values that every read shows as `REDACTED:<sha256>`; deliveries use the originals. Header names are lower case. */
export type Redaction = { readonly body: boolean; readonly headers: "all" | readonly string[] };

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

/**
 * Says which settings a callback has: `own`, those given for the callback; `inherited`, the same, and otherwise its
 * message's; `none`, those of a message alone. A setting without an entry does not compile.
 */
export const inCallbacks = {
  timeoutMs: "own",
  retriesMax: "inherited",
  retryDelay: "inherited",
  callback: "none",
  failureCallback: "none",
  // A callback hides more than its message does, see `inheritedRedaction`.
  redaction: "none",
  labels: "inherited",
  flow: "own",
} as const satisfies { readonly [Key in keyof Policy]-?: "own" | "inherited" | "none" };

type KeyOf<How> = {
  [Key in keyof Policy]-?: (typeof inCallbacks)[Key] extends How ? Key : never;
}[keyof Policy];
type Own = Pick<Policy, KeyOf<"own">>;
type Inherited = Pick<Policy, KeyOf<"inherited">>;

export type CallbackSettings = Own & Inherited;

/** The callback to make after attempts of a message. Absent settings are inherited from the message. */
export type CallbackPlan = Own &
  Partial<Inherited> & {
    readonly url: string;
    readonly method: Method;
    readonly headers: Headers;
    readonly delayMs: number;
    /** Set on the callback of a run's call. Called once the delivery of the call's answer has failed for good. */
    readonly failureCallback?: CallbackPlan;
  };

/** Returns the settings of a callback: its own, and those that it inherits from the policy of its message. */
export function settingsOfCallback(plan: CallbackPlan, policy: Inherited): CallbackSettings;
export function settingsOfCallback(plan: CallbackPlan, policy: Inherited): object {
  const settings: Record<string, unknown> = {};
  for (const [key, how] of callbackEntries) {
    const own: unknown = Reflect.get(plan, key);
    const value: unknown = own ?? (how === "inherited" ? Reflect.get(policy, key) : undefined);
    if (value !== undefined) settings[key] = value;
  }
  return settings;
}

const callbackEntries = Object.entries(inCallbacks).filter(([, how]) => how !== "none");
