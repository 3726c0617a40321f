/**
 * Tells the log of the acceptance of messages that their inserts claimed for a deliverer: such an insert tells no log
 * (docs/design/record#claimed-by-its-insert).
 */
import { type InState } from "@posthaste/domain";
import { type AnnouncePorts, announceTraced } from "@posthaste/engine";
import { type Roster, type Tracer } from "@posthaste/ports";
import { type Attempt } from "./attempt.ts";

export type AcceptancePorts = AnnouncePorts & {
  /** Absent where insert and delivery are one process, which leaves nothing untold. */
  readonly roster?: Pick<Roster, "announce" | "leave">;
};

type Claimed = InState<"claimed">;

/** A running message is in the log within two seconds. */
const tellAfterMs = 1_000;

export class Acceptance {
  readonly #ports: AcceptancePorts;
  readonly #tracer: Tracer;

  constructor(ports: AcceptancePorts, tracer: Tracer) {
    this.#ports = ports;
    this.#tracer = tracer;
  }

  /**
   * Reports whether the log may lack the acceptance of a message that was claimed here: the deliverer named by its
   * insert may have died.
   */
  mayLack({ epoch, message, retried }: Claimed): boolean {
    return this.#ports.roster !== undefined && epoch > 1 && retried === 0 && !message.run;
  }

  isDue({ madeAt, untold }: Attempt, passedMs: number): boolean {
    return untold && passedMs - madeAt >= tellAfterMs;
  }

  /** Tells the log of these. Does nothing while the bus is away: `Leases` asks again. */
  tell(attempts: readonly Attempt[]): void {
    if (!this.#ports.bus.isUp()) return;
    for (const attempt of attempts) attempt.untold = false;
    this.announce(attempts.map(({ record }) => record));
  }

  announce(records: readonly Claimed[]): void {
    announceTraced(this.#ports, this.#tracer, records).catch(() => undefined);
  }
}
