/** Expanding a group publish: children under derived ids, in batches, resumable at any point (reliability.md P2). */
import { type Endpoint } from "../publish/url-group.ts";
import { expansionBatchMax } from "../shared/limits.ts";
import { childMessage } from "./accept.ts";
import { type InState, type Message } from "./message.ts";

export type Expansion = {
  readonly children: readonly Message[];
  readonly upTo: number;
  readonly done: boolean;
};

/** The next batch. `endpoints` are those of the group version that was published to, in order. */
export function expand(parent: InState<"expanding">, endpoints: readonly Endpoint[]): Expansion {
  const { message, state } = parent;
  const upTo = Math.min(state.upTo + expansionBatchMax, endpoints.length);
  const skipped = new Set(message.fanOut?.skipped);
  const children: Message[] = [];
  for (let index = state.upTo; index < upTo; index++) {
    const endpoint = endpoints[index];
    if (endpoint && !skipped.has(index)) children.push(childMessage(message, endpoint, index));
  }
  return { children, upTo, done: upTo >= endpoints.length };
}
