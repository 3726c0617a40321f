/**
 * Asks a run about one of its deliveries: right before the call whether the delivery is still wanted, with the history that it carries, and
 * after a 2xx answer without the mark of a workflow whether the answer needs one (docs/design/runs#standing-still).
 */
import {
  asUnmarked,
  type InRun,
  lacksMark,
  type Message,
  type MessageRecord,
  needsMark,
  type Outcome,
} from "@posthaste/domain";
import { beginHeld, type UsePorts } from "@posthaste/engine";
import { type RunStore } from "@posthaste/ports";
import { type Attempt, type Calling } from "../attempts/attempt.ts";
import { Histories } from "./histories.ts";
import { ownFailure } from "../settling/report.ts";

/** The histories kept in memory for the next deliveries of their runs. */
const historyBytesMax = 64 * 1024 * 1024;

export class Briefing {
  readonly #ports: UsePorts;
  readonly #runs: RunStore;
  readonly #inlineBytesMax: number;
  readonly #histories = new Histories(historyBytesMax);

  /** `inlineBytesMax`: the largest history that is sent along to an endpoint that can fetch its history. */
  constructor(ports: UsePorts & { readonly runs: RunStore }, inlineBytesMax: number) {
    this.#ports = ports;
    this.#runs = ports.runs;
    this.#inlineBytesMax = inlineBytesMax;
  }

  /**
   * Resolves to undefined when the delivery may be called; to "unwanted" when its run does not want it; to "later"
   * while an earlier use of its id is still being delivered; and to an outcome that costs no retry when the store did
   * not answer.
   */
  async of(attempt: Attempt<"calling">): Promise<"unwanted" | "later" | Outcome | undefined> {
    const { record, state } = attempt;
    const { epoch, message } = record;
    const { run } = message;
    if (!run || this.#isInHand(attempt)) return undefined;
    try {
      if (run.behind && !(await beginHeld(this.#ports, run, run.behind))) return "later";
      if (this.#isFetched(run)) return await this.#asked(run, epoch);
      return await this.#read(state, run, epoch, this.#histories.known(run.root));
    } catch (error) {
      return ownFailure(`the history of the run could not be read: ${String(error)}`);
    }
  }

  /**
   * Makes the history of an entry that this process has just written, where all entries before it are kept. Nothing
   * can have changed the run since.
   */
  #isInHand({ entry, record: { message }, state: call }: Attempt<"calling">): boolean {
    const { id, run } = message;
    if (!entry || !run || run.behind) return false;
    if (this.#isFetched(run)) return true;
    const { body, rank } = entry;
    call.body = this.#histories.body(run.root, rank, rank, [{ messageId: id, body }]);
    return call.body !== undefined;
  }

  #isFetched({ bytes, fetches }: InRun): boolean {
    return fetches === true && bytes > this.#inlineBytesMax;
  }

  /** Asks whether the delivery is wanted, without reading the history: the endpoint fetches it. */
  async #asked(run: InRun, epoch: number): Promise<"unwanted" | undefined> {
    const [briefing] = await this.#runs.brief([{ run, epoch, from: Number.MAX_SAFE_INTEGER }]);
    return !briefing || briefing === "unwanted" ? "unwanted" : undefined;
  }

  async #read(
    call: Calling,
    run: InRun,
    epoch: number,
    from: number,
  ): Promise<"unwanted" | undefined> {
    const [briefing] = await this.#runs.brief([{ run, epoch, from }]);
    if (!briefing || briefing === "unwanted") {
      this.#histories.forget(run.root);
      return "unwanted";
    }
    if (briefing === "wanted") return undefined;
    const { entries, rank } = briefing;
    call.body = this.#histories.body(run.root, from, rank, entries);
    // The kept entries were dropped meanwhile: read the whole history.
    return call.body ? undefined : this.#read(call, run, epoch, 0);
  }

  /** Judges an outcome. Only a 2xx answer without the mark of a workflow costs a read of the run's head. */
  async judged(message: Message, outcome: Outcome): Promise<Outcome> {
    const { dialect, run, tenant } = message;
    const { records } = this.#ports;
    if (!run || !lacksMark(message, outcome)) return outcome;
    try {
      if (!needsMark(await this.#runs.get(run), run)) return outcome;
      const [start] = await records.get(tenant, [run.root]);
      if (start && mayTell(start))
        return ownFailure("the start of the run is still being answered");
      // The start has been told: the head has its outcome by now.
      return needsMark(await this.#runs.get(run), run) ? asUnmarked(dialect, outcome) : outcome;
    } catch (error) {
      return ownFailure(`the run of an answer without a mark could not be read: ${String(error)}`);
    }
  }
}

/** Reports whether the outcome of the start may not be in the run's head yet. */
const mayTell = ({ outbox, state }: MessageRecord): boolean =>
  state.kind === "claimed" || outbox.some(({ kind }) => kind === "run");
