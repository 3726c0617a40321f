/** A collector to send to, and the bounds of sending. */
import { type Clock, type Log, type Reporter } from "@posthaste/ports";

export type OtlpOptions = {
  readonly service: Reporter;
  /** Tells this process from others of its service. */
  readonly instance: string;
  /** The whole address to which the signal is sent. */
  readonly url: string;
  readonly protocol: "http/json" | "http/protobuf";
  readonly clock: Clock;
  readonly log: Log;
};

/** Items beyond this number are dropped. */
export const queueMax = 2_048;
export const batchMax = 256;
export const sendEveryMs = 1_000;
export const sendMsMax = 5_000;
/** How long the end of a process waits for a collector that does not answer. */
export const closeMsMax = 2_000;
