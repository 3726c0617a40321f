/**
 * The deliverer: claim → call → settle. The parts share the lines of waiting messages, the permits to call, and the
 * attempts that run. claiming.ts claims messages, calls.ts makes the calls, leases.ts keeps the leases, settling.ts
 * writes the outcomes. Publishes of this process come in by local.ts, messages that gateways named by named.ts.
 *
 * (1) Every call has a slot. Messages that their inserts claimed wait for one in line, in turns with the hints of
 *     their origin (ADR 183).
 * (2) Every write about an attempt is fenced by the claim's epoch (I4). A running call whose lease cannot be proven
 *     is aborted, and nothing is written. The outcome of an ended call is offered to the store however late it is.
 * (3) An outcome is written until the store takes it or fences it. The slot is free as soon as the call has ended;
 *     claiming stops while too many outcomes, or bytes of answers, wait to be written.
 */
import { type Owner, type TenantId } from "@posthaste/domain";
import { type Hint, type LocalDelivery, noTelemetry, type Telemetry } from "@posthaste/ports";
import { Acceptance, type AcceptancePorts } from "./acceptance.ts";
import { Attempts } from "./attempts.ts";
import { type CallParts, type CallPorts, Calls } from "./calls.ts";
import { Claiming } from "./claiming.ts";
import { Leases } from "./leases.ts";
import { Lines } from "./lines.ts";
import { Local } from "./local.ts";
import { Named } from "./named.ts";
import { type PermitOptions, Permits } from "./permits.ts";
import { Presence } from "./presence.ts";
import { Settling, type SettlingParts, type SettlingPorts } from "./settling.ts";

export type DelivererPorts = SettlingPorts &
  CallPorts &
  AcceptancePorts & { readonly telemetry?: Telemetry };

export type DelivererOptions = PermitOptions &
  Pick<CallParts, "compose" | "inlineHistoryBytesMax"> &
  Pick<SettlingParts, "failed"> & {
    readonly owner: Owner;
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
  const { failed, owner } = options;
  const { telemetry = noTelemetry } = ports;
  const { tracer } = telemetry;
  const lines = new Lines(goOn);
  const permits = new Permits(ports, options, lines);
  const attempts = new Attempts(ports.bus, lines, permits);
  const acceptance = new Acceptance(ports, tracer);
  const shared = { owner, lines, permits, attempts, acceptance };
  const settling = new Settling(ports, { ...shared, telemetry, failed });
  const presence = new Presence(ports, { ...shared, settling, isBusy: options.isBusy });
  const leases = new Leases(ports, { ...shared, settling, presence });
  const calls = new Calls(ports, { ...options, tracer, leases, settling });
  const claiming = new Claiming(ports, { ...shared, tracer, leases, calls, presence, settling });
  const local = new Local(ports.clock, { ...shared, claiming });
  const named = new Named(ports.clock, { ...shared, telemetry, claiming });
  return { ...shared, telemetry, settling, presence, leases, calls, claiming, local, named };
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
