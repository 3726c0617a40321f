/** Fan-outs: publishes to URL groups whose children are being made (docs/design/record#fan-out). */
import { type FanOut, type MessageId, type TenantId } from "@posthaste/domain";
import { type Intake } from "./intake.ts";
import { type DeduplicationEntry, type Inserted } from "./records.ts";

export interface FanOuts {
  /**
   * Durable when it resolves (I1), and with it a place for each endpoint: a child has its place in line from here, however
   * late it is made (ADR 4); in a queue nothing behind a child gets a turn before that is made. `deduplication`: windows to confirm with it, as of `Records.insert`.
   */
  insert(
    fanOut: FanOut,
    intake: Intake,
    deduplication?: readonly DeduplicationEntry[],
  ): Promise<Inserted>;
  /** With the body, until it is removed with its last child. */
  get(tenant: TenantId, ids: readonly MessageId[]): Promise<readonly (FanOut | undefined)[]>;
  /** Those of a tenant that are not expanded, with ids between `after` and `before`, in the order of the ids. */
  expanding(
    tenant: TenantId,
    after: MessageId | undefined,
    before: MessageId,
    limit: number,
  ): Promise<readonly MessageId[]>;
  /** Writes how far a fan-out is expanded, where `from` still holds, and sets the alarm of its queue; `done` ends it. False: another expander was faster. */
  advance(id: MessageId, from: number, upTo: number, done: boolean): Promise<boolean>;
}
