/** What a delivery of a run is told right before its call: whether its run wants it still, and the history that it carries. */
import { type InRun, type Outcome } from "@posthaste/domain";
import { mayBegin, type UsePorts } from "@posthaste/engine";
import { type RunStore } from "@posthaste/ports";
import { type Attempt } from "./attempt.ts";
import { Histories } from "./histories.ts";
import { ourFault } from "./report.ts";

/** Of histories that are kept for the next delivery of their runs. */
const historyBytesMax = 64 * 1024 * 1024;

export class Briefing {
  readonly #ports: UsePorts;
  readonly #runs: Pick<RunStore, "brief">;
  readonly #inlineBytesMax: number;
  readonly #histories = new Histories(historyBytesMax);

  /** `inlineBytesMax`: of a history that is sent to an endpoint that can fetch it. */
  constructor(ports: UsePorts & { readonly runs: RunStore }, inlineBytesMax: number) {
    this.#ports = ports;
    this.#runs = ports.runs;
    this.#inlineBytesMax = inlineBytesMax;
  }

  /**
   * Undefined: it may be called. `later`: the use of its id before it is being delivered. An outcome: the store did not say,
   * which costs no retry.
   */
  async of(attempt: Attempt): Promise<"over" | "later" | Outcome | undefined> {
    const { epoch, message } = attempt.record;
    const { run } = message;
    if (!run) return undefined;
    try {
      if (run.behind && !(await mayBegin(this.#ports, run, run.behind))) return "later";
      if (run.fetches && run.bytes > this.#inlineBytesMax) return await this.#asked(run, epoch);
      return await this.#read(attempt, run, epoch, this.#histories.known(run.root));
    } catch (error) {
      return ourFault(`the history of the run could not be read: ${String(error)}`);
    }
  }

  /** Nothing of its history is read here. */
  async #asked(run: InRun, epoch: number): Promise<"over" | undefined> {
    const [briefing] = await this.#runs.brief([{ run, epoch, from: Number.MAX_SAFE_INTEGER }]);
    return !briefing || briefing === "over" ? "over" : undefined;
  }

  async #read(
    attempt: Attempt,
    run: InRun,
    epoch: number,
    from: number,
  ): Promise<"over" | undefined> {
    const [briefing] = await this.#runs.brief([{ run, epoch, from }]);
    if (!briefing || briefing === "over") {
      this.#histories.forget(run.root);
      return "over";
    }
    if (briefing === "wanted") return undefined;
    const { entries, rank } = briefing;
    attempt.body = this.#histories.body(run.root, from, rank, entries);
    // What was kept when it was asked has been let go: then all of it is read.
    return attempt.body ? undefined : this.#read(attempt, run, epoch, 0);
  }
}
