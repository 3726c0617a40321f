/** The limits of a tenant. A publish beyond them is refused with 412, or 413 for its body (docs/design/wire#plans). */
export type Plan = {
  readonly retriesDefault: number;
  readonly retriesMax: number;
  readonly delayMsMax: number;
  /** The timeout of a publish that names none; at most `timeoutMsMax` is used. */
  readonly timeoutMsDefault: number;
  readonly timeoutMsMax: number;
  readonly bodyBytesMax: number;
  /** Bytes of a whole batch as it is sent. */
  readonly batchBytesMax: number;
  readonly responseBytesMax: number;
  readonly groupEndpointsMax: number;
  readonly groupsMax: number;
  readonly queuesMax: number;
  readonly queueParallelismMax: number;
  readonly schedulesMax: number;
  /** Calls at once, over all deliverers. */
  readonly parallelismMax: number;
  /** Messages in a day of UTC. */
  readonly messagesPerDayMax: number;
  readonly listsPerSecondMax: number;
  readonly deadLetterMs: number;
  readonly logMs: number;
  /** How long the body of a message is kept once the message has ended (ADR 204). */
  readonly keepBodiesMs: number;
  readonly backlogMax: number;
};

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const mebibyte = 1024 * 1024;

export const defaultPlan: Plan = {
  retriesDefault: 3,
  retriesMax: 1_000,
  delayMsMax: 365 * dayMs,
  timeoutMsDefault: 2 * hourMs,
  timeoutMsMax: 48 * hourMs,
  bodyBytesMax: 10 * mebibyte,
  batchBytesMax: 32 * mebibyte,
  responseBytesMax: mebibyte,
  groupEndpointsMax: 10_000,
  groupsMax: 10_000,
  queuesMax: 10_000,
  queueParallelismMax: 1_000,
  schedulesMax: 1_000_000,
  parallelismMax: 1_000_000,
  messagesPerDayMax: 1_000_000_000,
  listsPerSecondMax: 200,
  deadLetterMs: 7 * dayMs,
  logMs: 7 * dayMs,
  keepBodiesMs: dayMs,
  backlogMax: 10_000_000,
};

/** Fills in the default of each limit that the stored plan does not have yet. */
export const completePlan = (stored: Plan): Plan => ({ ...defaultPlan, ...stored });

/** Returns the timeout of a publish that names none. Lowering `timeoutMsMax` alone lowers it. */
export const timeoutMsOf = ({ timeoutMsDefault, timeoutMsMax }: Plan): number =>
  Math.min(timeoutMsDefault, timeoutMsMax);

type Bounds = { readonly min: number; readonly max: number };

/** The parts of a plan that may differ from tenant to tenant, with their bounds. The other parts are the same for all. */
export const planBounds = {
  retriesDefault: { min: 0, max: 1_000 },
  retriesMax: { min: 0, max: 1_000 },
  delayMsMax: { min: 0, max: 365 * dayMs },
  timeoutMsDefault: { min: 1_000, max: 7 * dayMs },
  timeoutMsMax: { min: 1_000, max: 7 * dayMs },
  bodyBytesMax: { min: 0, max: 10 * mebibyte },
  // `max` is half of the bytes of bodies that a process holds, the most that one body may take.
  batchBytesMax: { min: 1_024, max: 64 * mebibyte },
  responseBytesMax: { min: 0, max: mebibyte },
  groupEndpointsMax: { min: 1, max: 10_000 },
  groupsMax: { min: 0, max: 10_000 },
  queuesMax: { min: 0, max: 10_000 },
  queueParallelismMax: { min: 1, max: 1_000 },
  schedulesMax: { min: 0, max: 1_000_000 },
  parallelismMax: { min: 1, max: 1_000_000 },
  messagesPerDayMax: { min: 0, max: 1_000_000_000 },
  listsPerSecondMax: { min: 1, max: 1_000_000 },
  logMs: { min: minuteMs, max: 365 * dayMs },
  keepBodiesMs: { min: 0, max: 365 * dayMs },
  deadLetterMs: { min: minuteMs, max: 365 * dayMs },
  backlogMax: { min: 1, max: 10_000_000 },
} as const satisfies { readonly [K in keyof Plan]?: Bounds };

export type PlanLimits = Pick<Plan, keyof typeof planBounds>;

type Optional = "parallelismMax" | "messagesPerDayMax" | "listsPerSecondMax";

/** Returns the plan's limit; undefined, which means that nothing is counted, if it is the highest that a plan may have. */
export const limitOf = (plan: Plan, of: Optional): number | undefined =>
  plan[of] < planBounds[of].max ? plan[of] : undefined;
