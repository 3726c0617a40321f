/** Fan-outs: publishes to URL groups whose children are being made (docs/design/record#fan-out). */
import { type FanOut, type MessageId, type TenantId } from "@posthaste/domain";
import { type Intake } from "./intake.ts";
import { type DeduplicationEntry, type Inserted } from "./records.ts";

export interface FanOuts {
  /**
   * Inserts a fan-out; durable when it resolves (I1). Reserves a place for each endpoint, so that a child has its
   * place in line from here on, however late it is made (ADR 4). In a queue, no message behind a child gets a turn
   * before the child is made. `deduplication`: the windows to confirm with the insert, as in `Records.insert`.
   */
  insert(
    fanOut: FanOut,
    intake: Intake,
    deduplication?: readonly DeduplicationEntry[],
  ): Promise<Inserted>;
  /** Returns fan-outs with their bodies. A fan-out is removed with its last child. */
  get(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly (FanOut | undefined)[]>;
  /** Returns the tenant's fan-outs that are not expanded and have ids between `after` and `before`, in id order. */
  expanding(
    tenant: TenantId,
    after: MessageId | undefined,
    before: MessageId,
    limit: number,
  ): Promise<readonly MessageId[]>;
  /**
   * Moves the cursor of a fan-out to `upTo` if it is still at `from`, and sets the alarm of its queue; `done` ends
   * it. Returns false when another expander was faster.
   */
  advance(id: MessageId, from: number, upTo: number, done: boolean): Promise<boolean>;
}
