/** Takes the messages that a publish of this process has claimed by their inserts: a place in line is reserved before the insert. */
import {
  type InState,
  type MessageId,
  originHash,
  type Owner,
  sentBytes,
  type TenantId,
} from "@posthaste/domain";
import { type Clock, type LocalDelivery } from "@posthaste/ports";
import { leasedAtOf, newAttempt } from "./attempt.ts";
import { type Attempts } from "./attempts.ts";
import { countedBytes } from "./body-bytes.ts";
import { type Claiming } from "./claiming.ts";
import { type Lines } from "./lines.ts";
import { type Need, type Permits } from "./permits.ts";

export type LocalParts = {
  readonly owner: Owner;
  readonly lines: Lines;
  readonly permits: Permits;
  readonly attempts: Attempts;
  readonly claiming: Claiming;
};

export class Local implements LocalDelivery {
  readonly owner: Owner;
  readonly #clock: Clock;
  readonly #parts: LocalParts;

  constructor(clock: Clock, parts: LocalParts) {
    this.owner = parts.owner;
    this.#clock = clock;
    this.#parts = parts;
  }

  reserve(tenant: TenantId, origin: number, bodyBytes: number): boolean {
    const { claiming, permits } = this.#parts;
    const need = { tenant, origin, bytes: bodyBytes };
    return claiming.mayClaim && this.#mayWait(need) && permits.reserve(tenant, origin, bodyBytes);
  }

  /** Reports whether a reservation may wait in line. That of a heavy message may not: it would hold bytes that others could use. */
  #mayWait(need: Need): boolean {
    const { claiming, permits } = this.#parts;
    return countedBytes(need.bytes) === 0 || (!claiming.isAheadOf(need) && permits.isFree(need));
  }

  turn(tenant: TenantId, origin: number, bodyBytes: number): Promise<void> | undefined {
    const { lines, permits } = this.#parts;
    return lines.isClosed ? undefined : permits.turn(tenant, origin, bodyBytes);
  }

  release(tenant: TenantId, origin: number, bodyBytes: number): void {
    const { lines, permits } = this.#parts;
    permits.reserved(tenant, origin, bodyBytes).end();
    // A reservation holds bytes, for which a hint may wait.
    lines.next();
  }

  /** The lease began before the insert. */
  run(record: InState<"claimed">): void {
    const { claiming, permits } = this.#parts;
    const { tenant, url } = record.message;
    const origin = originHash(url);
    const place = permits.reserved(tenant, origin, sentBytes(record.message));
    claiming.take(newAttempt(record, origin, leasedAtOf(record, this.#clock), this.#clock, place));
  }

  abort(id: MessageId): boolean {
    return this.#parts.attempts.cancel(id);
  }
}
