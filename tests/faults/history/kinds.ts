/** The kinds of messages that a run publishes: their settings, and how each must end. */

const laneLimits = {
  "pair-0": { parallelism: 2 },
  "pair-1": { parallelism: 2 },
  paced: { rate: 3, periodMs: 2_000 },
} as const;

export type Lane = keyof typeof laneLimits;
export type LaneLimits = {
  readonly parallelism?: number;
  readonly rate?: number;
  readonly periodMs?: number;
};
export const lanes: Readonly<Record<Lane, LaneLimits>> = laneLimits;

/** How many of a queue's messages run at once. */
const queueParallelism = { "line-1": 1, "line-3": 3 } as const;

export type Queue = keyof typeof queueParallelism;
export const queues: Readonly<Record<Queue, number>> = queueParallelism;
export const isQueue = (name: string): name is Queue => Object.hasOwn(queues, name);

export const isLane = (name: string): name is Lane => Object.hasOwn(lanes, name);

export type Kind =
  | "plain"
  | "delayed"
  /** The first attempt is refused. */
  | "flaky"
  /** Flaky, with a callback for each attempt. */
  | "callback"
  /** Refused at each attempt, with a failure callback. */
  | "failing"
  | "deduplicated"
  | "paired"
  /** In a lane with a rate. */
  | "paced"
  /** In a queue; the first attempt of some is refused. */
  | "queued"
  /** Answered when the destination's gate is open. */
  | "gated";

export type Plan = {
  /** The destination's path, which selects its behaviour (world/destination.ts). */
  readonly path: string;
  /** In addition to the headers of every message. */
  readonly headers: Readonly<Record<string, string>>;
  readonly delayMs: number;
  readonly retriesMax: number;
  /** Whether each attempt has a callback. */
  readonly isTold: boolean;
  readonly ends: "delivered" | "failed";
  readonly lane?: Lane;
  readonly queue?: Queue;
};

const retriesMax = 20;
const retriesOfFailing = 1;
const delaySeconds = 2;

/** `n` is the message's number, and `destination` the origin of its callbacks. */
export function planOf(kind: Kind, n: number, destination: string): Plan {
  const headers = { "service-retries": String(retriesMax), "service-retry-delay": "150" };
  const plain: Plan = {
    path: "/arrival",
    headers,
    delayMs: 0,
    retriesMax,
    isTold: false,
    ends: "delivered",
  };
  switch (kind) {
    case "plain":
      return plain;
    case "delayed": {
      const delayMs = delaySeconds * 1_000;
      return { ...plain, delayMs, headers: { ...headers, "service-delay": `${delaySeconds}s` } };
    }
    case "flaky":
      return { ...plain, path: "/flaky" };
    case "callback": {
      const callback = { "service-callback": `${destination}/callback` };
      return { ...plain, path: "/flaky", headers: { ...headers, ...callback }, isTold: true };
    }
    case "failing": {
      const own = {
        "service-retries": String(retriesOfFailing),
        "service-failure-callback": `${destination}/callback`,
      };
      const plan = { ...plain, path: "/failing", retriesMax: retriesOfFailing };
      return { ...plan, headers: { ...headers, ...own }, ends: "failed" };
    }
    case "deduplicated":
      return { ...plain, headers: { ...headers, "service-deduplication-id": `n-${n}` } };
    case "paired":
      return inLane(plain, n % 2 === 0 ? "pair-0" : "pair-1");
    case "paced":
      return inLane(plain, "paced");
    case "queued": {
      const queue = n % 2 === 0 ? "line-1" : "line-3";
      const own = { "service-queue-name": queue };
      return { ...plain, path: `/queue/${queue}`, headers: { ...headers, ...own }, queue };
    }
    case "gated":
      return { ...plain, path: "/gated" };
  }
}

function inLane(plan: Plan, lane: Lane): Plan {
  const { parallelism, rate, periodMs } = lanes[lane];
  const limits = [
    ...(parallelism === undefined ? [] : [`parallelism=${parallelism}`]),
    ...(rate === undefined || periodMs === undefined
      ? []
      : [`rate=${rate}`, `period=${periodMs / 1_000}s`]),
  ];
  const headers = {
    ...plan.headers,
    "service-flow-control-key": lane,
    "service-flow-control-value": limits.join(","),
  };
  return { ...plan, path: `/lane/${lane}`, headers, lane };
}
