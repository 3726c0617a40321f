/**
 * The deliverer: claim → call → settle. A message that is due waits in a line (lines/) for a permit to call (permits/),
 * unless one is free. Messages are claimed for their permits, or come claimed from a publish of this process or from
 * gateways (claiming/). calls/ makes the calls, attempts/ keeps the running attempts and their leases, settling/
 * writes the outcomes.
 *
 * (1) Every call has a slot. Messages that their inserts claimed wait for one in line, in turns with the hints of
 *     their origin (ADR 183).
 * (2) Every write about an attempt is fenced by the claim's epoch (I4). A running call whose lease cannot be proven
 *     is aborted, and nothing is written. The outcome of an ended call is offered to the store however late it is.
 * (3) An outcome is written until the store takes it or fences it. The slot is free as soon as the call has ended;
 *     claiming stops while too many outcomes, or bytes of answers, wait to be written.
 */
import { type Owner, type TenantId } from "@posthaste/domain";
import { type Hint, type LocalDelivery, noTelemetry } from "@posthaste/ports";
import { Acceptance } from "./attempts/acceptance.ts";
import { Attempts } from "./attempts/attempts.ts";
import { type CallOptions, Calls } from "./calls/calls.ts";
import { Claiming } from "./claiming/claiming.ts";
import { Leases } from "./attempts/leases.ts";
import { Lines } from "./lines/lines.ts";
import { Local } from "./claiming/local.ts";
import { Named } from "./claiming/named.ts";
import { type DelivererPorts } from "./ports.ts";
import { type PermitOptions, Permits } from "./permits/permits.ts";
import { Presence } from "./claiming/presence.ts";
import { type OnFailed } from "./settling/report.ts";
import { Settling } from "./settling/settling.ts";

export type DelivererOptions = PermitOptions &
  CallOptions & {
    readonly owner: Owner;
    readonly failed?: OnFailed;
    /**
     * Lists the tenants whose messages are pulled at the start: the hints that a dead process had buffered are lost,
     * and their messages would wait for their alarms. Absent if the store rings all due messages at its own start.
     */
    readonly pulledAtStart?: () => readonly TenantId[];
    /** How long `stop` waits for running attempts before it hands them back. */
    readonly drainMs: number;
  };

/** Makes the parts in the order of their dependencies. `goOn` is called when waiting messages may have their turn. */
function wire(ports: DelivererPorts, options: DelivererOptions, goOn: () => void) {
  const { failed, isBusy, owner } = options;
  const { clock, telemetry = noTelemetry } = ports;
  const lines = new Lines(goOn);
  const permits = new Permits(ports, options, lines);
  const attempts = new Attempts(ports.bus, lines, permits);
  const acceptance = new Acceptance(ports, telemetry.tracer);
  const shared = { owner, telemetry, lines, permits, attempts, acceptance };
  const settling = new Settling(ports, { ...shared, failed });
  const presence = new Presence(ports, { ...shared, settling, isBusy });
  const leases = new Leases(ports, { ...shared, settling, presence });
  const calls = new Calls(ports, { ...options, telemetry, leases, settling });
  const claiming = new Claiming(ports, { ...shared, leases, calls, presence, settling });
  const local = new Local(clock, { ...shared, claiming });
  const named = new Named(clock, { ...shared, claiming });
  return { ...shared, settling, presence, leases, calls, claiming, local, named };
}

export class Deliverer {
  readonly name = "deliverer";
  readonly #ports: DelivererPorts;
  readonly #options: DelivererOptions;
  readonly #parts: ReturnType<typeof wire>;
  #unsubscribe: (() => Promise<void>) | undefined;
  #onIdle: (() => void) | undefined;

  constructor(ports: DelivererPorts, options: DelivererOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#parts = wire(ports, options, () => this.#goOn());
    const { attempts, claiming, permits, telemetry } = this.#parts;
    telemetry.metrics.watch("posthaste_attempts_running", () => attempts.size);
    telemetry.metrics.watch("posthaste_attempts_body_bytes", () => permits.bytesInFlight);
    telemetry.metrics.watch("posthaste_attempts_waiting", () => claiming.waitingForSlot);
  }

  get local(): LocalDelivery {
    return this.#parts.local;
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#ports.bus.subscribe(
      "message.due",
      "deliverer",
      async (hints) => this.hear(hints),
      { assigned: (partitions) => this.#parts.presence.assigned(partitions) },
    );
    this.#parts.presence.start();
    for (const tenant of this.#options.pulledAtStart?.() ?? []) this.#parts.lines.expect(tenant);
    this.#parts.claiming.serveLines();
  }

  /**
   * Claims nothing more, publishes the waiting hints for other deliverers, waits for the running attempts, and hands back the claims of those
   * that run longer than `drainMs` (docs/design/outages#stopping).
   */
  async stop(): Promise<void> {
    const timeUp = this.#ports.clock.after(this.#options.drainMs, () => this.#abortAll());
    await this.#parts.presence.leave();
    this.#parts.lines.close();
    this.#parts.named.stop();
    this.#parts.permits.placeWaits.endAll();
    await this.#unsubscribe?.();
    const hints = this.#parts.claiming.giveAll();
    this.#parts.calls.giveBackSuspects();
    // A message without a hint waits for its alarm, up to ten minutes.
    await this.#ports.bus.publish("message.due", hints);
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      this.#goOn();
    });
    timeUp();
    this.#parts.leases.stop();
    this.#parts.settling.stop();
  }

  /** Takes hints from the bus. */
  hear(hints: readonly Hint[]): void {
    this.#parts.attempts.hear(this.#parts.named.hear(hints));
    this.#parts.presence.announceIfFull();
  }

  /** Returns how many calls of the tenant are under way in this process. */
  running(tenant: TenantId): number {
    return this.#parts.permits.heldBy(tenant);
  }

  /** Gives waiting messages their turn, and ends `stop` once nothing runs, no claim is on its way and every outcome has been told. */
  #goOn(): void {
    const { attempts, claiming, settling } = this.#parts;
    claiming.serveLines();
    if (!this.#onIdle) return;
    const isBusy = attempts.size > 0 || settling.isTelling || claiming.isClaiming;
    if (!isBusy) this.#onIdle();
  }

  #abortAll(): void {
    this.#parts.calls.end();
    this.#parts.attempts.abortAll();
    this.#parts.settling.leaveLog();
  }
}
