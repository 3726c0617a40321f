/** What a tenant may ask for. Beyond it a publish is refused with 412 (413 for the body), decisions.md 20 and 26. */
export type Plan = {
  readonly retriesDefault: number;
  readonly retriesMax: number;
  readonly delayMsMax: number;
  readonly timeoutMsMax: number;
  readonly bodyBytesMax: number;
  readonly responseBytesMax: number;
  readonly groupEndpointsMax: number;
  readonly groupsMax: number;
  readonly deadLetterMs: number;
  readonly logMs: number;
  readonly backlogMax: number;
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const mebibyte = 1024 * 1024;

export const defaultPlan: Plan = {
  retriesDefault: 3,
  retriesMax: 1_000,
  delayMsMax: 365 * dayMs,
  timeoutMsMax: 2 * hourMs,
  bodyBytesMax: 10 * mebibyte,
  responseBytesMax: mebibyte,
  groupEndpointsMax: 10_000,
  groupsMax: 10_000,
  deadLetterMs: 7 * dayMs,
  logMs: 7 * dayMs,
  backlogMax: 10_000_000,
};
