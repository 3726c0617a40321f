/** A row of `raw-targets.ts`. */
import { type FaultCode } from "@posthaste/domain";
import { type AnswerRow } from "./endpoint.ts";

/** An endpoint whose target ends in a destination: `POST {prefix}/{name…}/{destination}`. */
export type RawTarget = {
  readonly operation: string;
  /** In lower case; compared without case. */
  readonly prefix: string;
  /** What stands between prefix and destination: names, one path segment each. */
  readonly names: readonly string[];
  /** The prefix is a collection of the router's as well: what follows it there. */
  readonly routed?: RegExp;
  readonly summary: string;
  readonly answers: Readonly<Record<number, AnswerRow>>;
  /** Beside `faultsEverywhere` and `malformed`. */
  readonly faults: readonly FaultCode[];
};
