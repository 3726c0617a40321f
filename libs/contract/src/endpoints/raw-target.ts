import { type FaultCode } from "@posthaste/domain";
import { type AnswerRow, type EndpointKind } from "./endpoint.ts";

/** An endpoint whose target ends in a destination: `POST {prefix}/{name…}/{destination}`. */
export type RawTarget = {
  readonly operation: string;
  /** Publishing, or a lasting change. */
  readonly kind: Extract<EndpointKind, "publish" | "write">;
  /** In lower case; compared without case. */
  readonly prefix: string;
  /** The names between prefix and destination, one path segment each. */
  readonly names: readonly string[];
  /** Given if the prefix is also a collection of the router: matches the text that follows the prefix there. */
  readonly routed?: RegExp;
  readonly summary: string;
  readonly answers: Readonly<Record<number, AnswerRow>>;
  /** The faults beside `faultsEverywhere` and `malformed`. */
  readonly faults: readonly FaultCode[];
};
