/**
 * Keeps the entry of this deliverer in the roster, by which gateways name it.
 *
 * (1) One announcement is under way at a time and has the state at its sending, so an older one never replaces a
 *     newer.
 * (2) `leave` waits for the announcement under way; none follows. Gateways may name this deliverer until they have
 *     read that it left, so the subscription ends later.
 */
import { limits, ownFormat } from "@posthaste/domain";
import { type EventBus, pause } from "@posthaste/ports";
import { type Attempt } from "../attempts/attempt.ts";
import { type SharedParts } from "../parts.ts";
import { type DelivererPorts } from "../ports.ts";
import { type Settling } from "../settling/settling.ts";

type PresencePorts = Pick<DelivererPorts, "clock" | "log" | "roster"> & {
  readonly bus: Pick<EventBus, "hears">;
};

type PresenceParts = Pick<SharedParts, "owner"> & {
  readonly lines: Pick<SharedParts["lines"], "isClosed" | "isOpenToNamed">;
  readonly settling: Pick<Settling, "isFull">;
  /** Reports whether the process has no time to spare. Absent: publishes never wait for this deliverer. */
  readonly isBusy?: (() => boolean) | undefined;
};

/**
 * While the process has no time to spare, publishes wait from when a named message was called `busyFromMs` after it
 * was heard, until one is called within `easedBelowMs` (ADR 225).
 */
const busyFromMs = 250;
const easedBelowMs = 150;

/** How often gateways read the roster while they name few messages; more often under load. */
const readEveryMs = 500;
/** How long named messages may still arrive after leaving: a gateway's read, its insert and the hint. */
const namedAfterLeavingMs = 2_000;

export class Presence {
  readonly #ports: PresencePorts;
  readonly #parts: PresenceParts;
  #partitions: readonly number[] = [];
  #toldOpen = false;
  #toldBusy = false;
  #isBusy = false;
  /** How long the last named message had waited when its call began. */
  #waitedMs = 0;
  #isStale = false;
  #announcing: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #hasLeft = false;

  constructor(ports: PresencePorts, parts: PresenceParts) {
    this.#ports = ports;
    this.#parts = parts;
  }

  get #isOpen(): boolean {
    const { lines, settling } = this.#parts;
    const hears = this.#ports.bus.hears("message.due");
    return hears && !lines.isClosed && lines.isOpenToNamed && !settling.isFull;
  }

  start(): void {
    if (this.#ports.roster) this.#tick();
  }

  assigned(partitions: readonly number[]): void {
    this.#partitions = partitions;
    this.#announceNow();
  }

  /** Announces at once that this deliverer is full or busy. Called when hints have come in. */
  announceIfFull(): void {
    this.#isBusy ||= this.#hasNoTime && this.#waitedMs >= busyFromMs;
    const isFull = this.#toldOpen && !this.#isOpen;
    if (isFull || this.#toldBusy !== this.#isBusy) this.#announceNow();
  }

  /** Takes note of the call of a named message that begins now. */
  begun({ gotAt }: Pick<Attempt, "gotAt">): void {
    this.#waitedMs = this.#ports.clock.passedMs() - gotAt;
    if (!this.#isBusy || this.#waitedMs >= easedBelowMs) return;
    this.#isBusy = false;
    this.#announceNow();
  }

  /** Announces a change in either direction. Called a few times a second. */
  announceIfChanged(): void {
    this.#isBusy &&= this.#hasNoTime;
    if (this.#toldOpen !== this.#isOpen || this.#toldBusy !== this.#isBusy) this.#announceNow();
  }

  get #hasNoTime(): boolean {
    return this.#parts.isBusy?.() === true;
  }

  async leave(): Promise<void> {
    const { clock, log, roster } = this.#ports;
    this.#hasLeft = true;
    this.#cancel?.();
    if (!roster) return;
    await this.#announcing;
    const hasLeft = await roster.leave(this.#parts.owner).then(
      () => true,
      (error: unknown) => log.debug("roster.kept", { error }),
    );
    await pause(clock, hasLeft ? namedAfterLeavingMs : limits.rosterFreshMs + readEveryMs);
  }

  #tick(): void {
    this.#cancel = this.#ports.clock.after(limits.rosterEveryMs, () => this.#tick());
    this.#isBusy &&= this.#hasNoTime;
    this.#announceNow();
  }

  /** Announces now, or right after the announcement under way. */
  #announceNow(): void {
    this.#isStale = true;
    this.#announcing ??= this.#announceAll().finally(() => (this.#announcing = undefined));
  }

  async #announceAll(): Promise<void> {
    const { log, roster } = this.#ports;
    const { owner } = this.#parts;
    while (roster && this.#isStale && !this.#hasLeft) {
      this.#isStale = false;
      this.#toldOpen = this.#isOpen;
      this.#toldBusy = this.#isBusy;
      await roster
        .announce({
          ...{ owner, partitions: this.#partitions, isOpen: this.#toldOpen },
          ...{ isBusy: this.#toldBusy, format: ownFormat },
        })
        .catch((error: unknown) => log.debug("roster.unannounced", { error }));
    }
  }
}
