/** Takes the messages that a publish of this process claims by its inserts: a place in line is reserved before the insert. */
import { type InState, type MessageId, type Owner, type TenantId } from "@posthaste/domain";
import { type AddedEntry, type Clock, type LocalDelivery, type LocalPlace } from "@posthaste/ports";
import { leasedAtOf, newAttempt } from "../attempts/attempt.ts";
import { type Claiming } from "./claiming.ts";
import { type SharedParts } from "../parts.ts";
import { countedBytes, type Permit } from "../permits/permits.ts";

type LocalParts = SharedParts & { readonly claiming: Claiming };

export class Local implements LocalDelivery {
  readonly #clock: Clock;
  readonly #parts: LocalParts;

  constructor(clock: Clock, parts: LocalParts) {
    this.#clock = clock;
    this.#parts = parts;
  }

  reserve(tenant: TenantId, origin: number, bodyBytes: number): LocalPlace | undefined {
    const { claiming, permits } = this.#parts;
    const need = { tenant, origin, bytes: bodyBytes };
    if (!claiming.mayClaim) return undefined;
    // In line, a heavy message would hold bytes that others could use.
    const isHeavy = countedBytes(bodyBytes) > 0;
    if (isHeavy && (claiming.isAheadOf(need) || !permits.isFree(need))) return undefined;
    const permit = permits.reserve(need);
    return permit && new ReservedPlace(this.#clock, this.#parts, permit);
  }

  waitForPlace(tenant: TenantId, origin: number, bodyBytes: number): Promise<void> | undefined {
    const { lines, permits } = this.#parts;
    return lines.isClosed ? undefined : permits.waitForPlace(tenant, origin, bodyBytes);
  }

  abort(id: MessageId): boolean {
    return this.#parts.attempts.cancel(id);
  }
}

class ReservedPlace implements LocalPlace {
  readonly owner: Owner;
  readonly #clock: Clock;
  readonly #parts: LocalParts;
  readonly #permit: Permit;

  constructor(clock: Clock, parts: LocalParts, permit: Permit) {
    this.owner = parts.owner;
    this.#clock = clock;
    this.#parts = parts;
    this.#permit = permit;
  }

  /** Takes a message that was inserted. The lease began before the insert. */
  run(record: InState<"claimed">, entry?: AddedEntry): void {
    const leasedAt = leasedAtOf(record, this.#clock);
    const attempt = newAttempt(record, this.#permit.origin, leasedAt, this.#clock, this.#permit);
    attempt.entry = entry;
    this.#parts.claiming.take(attempt);
  }

  release(): void {
    this.#permit.end();
    // The reservation held bytes for which a hint may wait.
    this.#parts.lines.goOn();
  }
}
