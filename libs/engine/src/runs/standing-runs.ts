/**
 * Counts runs that stand still: between half a minute and a minute after a 2xx to a delivery, reads the head of its
 * run and counts deliveries that are still open. Does nothing if no metrics are read.
 *
 * (1) At most `answeredMax` deliveries of half a minute are looked up.
 */
import { deliveryOf, type InRun, isStuck } from "@posthaste/domain";
import { type Clock, type Log, type Metrics, noMetrics, type RunStore } from "@posthaste/ports";

const answeredMax = 1_000;
const lookEveryMs = 30_000;

type Ports = { readonly clock: Clock; readonly log: Log; readonly runs: Pick<RunStore, "get"> };

export class StandingRuns {
  readonly #ports: Ports;
  readonly #metrics: Metrics;
  /** Deliveries answered since the last look; the next look moves them to `#settled`, and the one after reads their runs. */
  #fresh: InRun[] = [];
  #settled: readonly InRun[] = [];
  #cancel: (() => void) | undefined;

  constructor(ports: Ports, metrics: Metrics) {
    this.#ports = ports;
    this.#metrics = metrics;
  }

  answered(run: InRun): void {
    if (this.#metrics === noMetrics || this.#fresh.length >= answeredMax) return;
    this.#fresh.push(run);
    this.#arm();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    this.#cancel ??= this.#ports.clock.after(lookEveryMs, () => {
      this.#cancel = undefined;
      const due = this.#settled;
      this.#settled = this.#fresh;
      this.#fresh = [];
      if (this.#settled.length > 0) this.#arm();
      void this.#look(due);
    });
  }

  async #look(answered: readonly InRun[]): Promise<void> {
    const { log, runs } = this.#ports;
    try {
      for (const deliveries of Map.groupBy(answered, ({ root }) => root).values()) {
        const [first] = deliveries;
        const run = first && (await runs.get(first));
        for (const { part } of run ? deliveries : [])
          if (run && isStuck(run, part)) this.#count(part);
      }
    } catch (error) {
      log.warn("runs.unread", { error });
    }
  }

  #count(part: InRun["part"]): void {
    const role = deliveryOf(part)?.role;
    if (role === "adopted") this.#metrics.count("posthaste_run_stalls_total", "start");
    else if (role && role !== "call") this.#metrics.count("posthaste_run_stalls_total", role);
  }
}
