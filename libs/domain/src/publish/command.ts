/** A publish as the caller meant it: parsed once at the door, trusted inside. */
import { type ScheduleId, type TenantId } from "../shared/ids.ts";
import { type Headers } from "../message/headers.ts";
import { type Api, type Dialect, type Method, type Policy } from "../message/message.ts";

export type Destination =
  | { readonly kind: "url"; readonly url: string; readonly api?: Api }
  | { readonly kind: "group"; readonly name: string };

export type Deduplication =
  { readonly kind: "explicit"; readonly id: string } | { readonly kind: "content" };

/** When the delivery may start; `at` is Unix milliseconds. Absent: now. */
export type Postponement =
  | { readonly kind: "delay"; readonly delayMs: number }
  | { readonly kind: "notBefore"; readonly at: number };

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
