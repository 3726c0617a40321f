/**
 * Tells the log of the acceptance of messages that their inserts claimed for a deliverer: such an insert tells no log
 * (docs/design/record#claimed-by-its-insert).
 */
import { type InState } from "@posthaste/domain";
import { announceTraced } from "@posthaste/engine";
import { type Tracer } from "@posthaste/ports";
import { type Attempt } from "./attempt.ts";
import { type DelivererPorts } from "../ports.ts";

type Claimed = InState<"claimed">;

/** A running message is in the log within two seconds. */
const tellAfterMs = 1_000;

export class Acceptance {
  readonly #ports: DelivererPorts;
  readonly #tracer: Tracer;

  constructor(ports: DelivererPorts, tracer: Tracer) {
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
