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

type Bounds = { readonly min: number; readonly max: number };

/** What of a plan may differ from tenant to tenant, and how far. The rest is the same for all. */
export const planBounds = {
  retriesDefault: { min: 0, max: 1_000 },
  retriesMax: { min: 0, max: 1_000 },
  delayMsMax: { min: 0, max: 365 * dayMs },
  timeoutMsMax: { min: 1_000, max: 12 * hourMs },
  bodyBytesMax: { min: 0, max: 10 * mebibyte },
  responseBytesMax: { min: 0, max: mebibyte },
  groupEndpointsMax: { min: 1, max: 10_000 },
  backlogMax: { min: 1, max: 10_000_000 },
} as const satisfies { readonly [K in keyof Plan]?: Bounds };

export type PlanLimits = Pick<Plan, keyof typeof planBounds>;
