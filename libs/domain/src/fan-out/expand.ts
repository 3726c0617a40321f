/**
 * Expands a fan-out: makes its children under derived ids, in batches, resumable at any point (docs/design/record#fan-out).
 */
import { type Message } from "../message/message.ts";
import { type Endpoint } from "../publish/url-group.ts";
import { expansionBatchMax } from "../shared/limits.ts";
import { childOf, type Expanding } from "./fan-out.ts";

export type Expansion = {
  readonly children: readonly Message[];
  readonly upTo: number;
  readonly done: boolean;
};

/** Returns the next batch. `endpoints` are those of the group version that was published to, in order. */
export function expand(fanOut: Expanding, endpoints: readonly Endpoint[]): Expansion {
  const { state } = fanOut;
  const upTo = Math.min(state.upTo + expansionBatchMax, endpoints.length);
  const skipped = new Set(fanOut.skipped);
  const children: Message[] = [];
  for (let index = state.upTo; index < upTo; index++) {
    const endpoint = endpoints[index];
    if (endpoint && !skipped.has(index)) children.push(childOf(fanOut, endpoint, index));
  }
  return { children, upTo, done: upTo >= endpoints.length };
}
