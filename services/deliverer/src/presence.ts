/**
 * This deliverer's entry in the roster, by which gateways name it.
 *
 * (1) One announcement at a time, and each says what holds when it is sent: an older one never replaces a newer.
 * (2) Leaving waits for the announcement under way, and none comes after it. What is named until gateways have read that it
 *     left is still heard: the subscription ends later.
 */
import { limits, ownFormat, type Owner } from "@posthaste/domain";
import { type Clock, type Log, pause, type Roster } from "@posthaste/ports";

export type PresencePorts = {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where insert and delivery are one process. */
  readonly roster?: Pick<Roster, "announce" | "leave">;
};

export type PresenceOptions = {
  readonly owner: Owner;
  /** It takes more. */
  readonly isOpen: () => boolean;
};

/** Gateways read so often; what they insert meanwhile, and its hint, take their time as well. */
const readEveryMs = 500;
const namedAfterLeavingMs = 2_000;

export class Presence {
  readonly #ports: PresencePorts;
  readonly #options: PresenceOptions;
  #partitions: readonly number[] = [];
  #toldOpen = false;
  #isStale = false;
  #announcing: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #hasLeft = false;

  constructor(ports: PresencePorts, options: PresenceOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  start(): void {
    if (this.#ports.roster) this.#tick();
  }

  assigned(partitions: readonly number[]): void {
    this.#partitions = partitions;
    this.#announceNow();
  }

  /** More has come in: gateways hear at once of a door that has closed. */
  grew(): void {
    if (this.#toldOpen && !this.#options.isOpen()) this.#announceNow();
  }

  /** Some time has passed: they hear of one that has opened again, too. */
  looked(): void {
    if (this.#toldOpen !== this.#options.isOpen()) this.#announceNow();
  }

  async leave(): Promise<void> {
    const { clock, log, roster } = this.#ports;
    this.#hasLeft = true;
    this.#cancel?.();
    if (!roster) return;
    await this.#announcing;
    const hasLeft = await roster.leave(this.#options.owner).then(
      () => true,
      (error: unknown) => log.debug("roster.kept", { error }),
    );
    await pause(clock, hasLeft ? namedAfterLeavingMs : limits.rosterFreshMs + readEveryMs);
  }

  #tick(): void {
    this.#cancel = this.#ports.clock.after(limits.rosterEveryMs, () => this.#tick());
    this.#announceNow();
  }

  /** What changes while one is under way goes with the next, right after it. */
  #announceNow(): void {
    this.#isStale = true;
    this.#announcing ??= this.#announceAll().finally(() => (this.#announcing = undefined));
  }

  async #announceAll(): Promise<void> {
    const { log, roster } = this.#ports;
    const { isOpen, owner } = this.#options;
    while (roster && this.#isStale && !this.#hasLeft) {
      this.#isStale = false;
      this.#toldOpen = isOpen();
      await roster
        .announce({
          ...{ owner, partitions: this.#partitions, isOpen: this.#toldOpen },
          format: ownFormat,
        })
        .catch((error: unknown) => log.debug("roster.unannounced", { error }));
    }
  }
}
