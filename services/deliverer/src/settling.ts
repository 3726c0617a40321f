/**
 * The settle: what came of a call becomes one write, and once the store has it, the part that has to look at what it left is
 * told. Nothing is lost when telling fails: outbox and alarms are in the store, and a lane's slot runs out with its lease.
 *
 * (1) An outcome is written until the store has taken it or fenced it (deliverer.ts (3)).
 * (2) Most messages leave nothing to be told, and then nothing is said.
 */
import {
  asResult,
  type FollowUp,
  isCallOfRun,
  isFinished,
  isSuccess,
  type Message,
  type Outcome,
  settleAttempt,
  type Settlement,
} from "@posthaste/domain";
import {
  admit,
  type FollowUpPorts,
  hasMore,
  tellSettled,
  type TurnPorts,
  wakeLane,
} from "@posthaste/engine";
import {
  type Hint,
  type Log,
  type MessageLog,
  type Random,
  type RetryDelays,
  type Settled,
  type Telemetry,
  type TokenStore,
  traceIdOf,
} from "@posthaste/ports";
import { type Attempt } from "./attempt.ts";
import { OwedLog } from "./owed-log.ts";
import { countAttempt, type FailedAttempt } from "./report.ts";
import { StandingRuns } from "./standing-runs.ts";
import { endAttempt } from "./trace.ts";

export type SettlingPorts = FollowUpPorts &
  TurnPorts & {
    readonly tokens: TokenStore;
    readonly messageLog: Pick<MessageLog, "append">;
    readonly random: Random;
    readonly retryDelays: RetryDelays;
    readonly log: Log;
  };

export type SettlingOptions = {
  readonly telemetry: Telemetry;
  /** Its outcome is on the way to the store: the slot may be another's. */
  readonly called: (attempt: Attempt) => void;
  /** The store has its outcome, or will have none. */
  readonly ended: (attempt: Attempt) => void;
  /** Nothing of it is in memory any more. */
  readonly forgotten: (attempt: Attempt) => void;
  readonly told: () => void;
  /** It was not yet said to the log, and ends without a word to it. */
  readonly untold: (attempt: Attempt) => void;
  /** Told of each attempt that was no success; absent: nothing listens. */
  readonly failed?: ((failed: FailedAttempt) => void) | undefined;
  /** A write of this process has made these due. */
  readonly due: (hints: readonly Hint[]) => Promise<void>;
};

/** Of outcomes that the store has not taken, or that are still being told: so many, and so many bytes of answers. */
const outcomesMax = 2_000;
const answerBytesMax = 64 * 1024 * 1024;

const retryMsMin = 50;
const retryMsMax = 1_000;

export class Settling {
  readonly #ports: SettlingPorts;
  readonly #options: SettlingOptions;
  readonly #standing: StandingRuns;
  readonly #owed: OwedLog;
  #writing = 0;
  #telling = 0;
  #answerBytes = 0;

  constructor(ports: SettlingPorts, options: SettlingOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#owed = new OwedLog(ports, () => options.told());
    options.telemetry.metrics.watch("posthaste_log_left_total", () => this.#owed.left);
    this.#standing = new StandingRuns(ports, options.telemetry.metrics);
  }

  /** Nothing new may be claimed: too much waits to be written. */
  get isFull(): boolean {
    return this.#writing >= outcomesMax || this.#answerBytes >= answerBytesMax;
  }

  /** What was settled is being told, or the log is owed some of it. */
  get isTelling(): boolean {
    return this.#telling > 0 || !this.#owed.isEmpty;
  }

  /** The time to drain is up: what the log is owed is left to the removal. */
  leaveLog(): void {
    this.#owed.leaveAll();
  }

  stop(): void {
    this.#standing.stop();
    this.#owed.stop();
  }

  settle(attempt: Attempt, received: Outcome): Promise<void> {
    const outcome = isCallOfRun(attempt.record.message) ? asResult(received) : received;
    endAttempt(attempt.span, outcome);
    if (attempt.lost) {
      this.#options.called(attempt);
      this.#end(attempt);
      return Promise.resolve();
    }
    const settlement = this.#settlementOf(attempt, outcome);
    this.#report(attempt, outcome, settlement);
    return this.write(attempt, settlement);
  }

  write(attempt: Attempt, settlement: Settlement): Promise<void> {
    this.#writing += 1;
    this.#answerBytes += answerBytesOf(settlement);
    if (attempt.untold && settlement.append.length === 0) this.#options.untold(attempt);
    this.#options.called(attempt);
    return this.#offer(attempt, settlement, retryMsMin);
  }

  #offer(attempt: Attempt, settlement: Settlement, waitMs: number): Promise<void> {
    if (attempt.lost) return Promise.resolve(this.#written(attempt, settlement, undefined));
    return this.#ports.records.settle([settlement]).then(
      ([settled]) => this.#written(attempt, settlement, settled),
      (error: unknown) => this.#offerLater(attempt, settlement, waitMs, error),
    );
  }

  async #offerLater(
    attempt: Attempt,
    settlement: Settlement,
    waitMs: number,
    error: unknown,
  ): Promise<void> {
    const { clock, log } = this.#ports;
    const { id, trace } = settlement.message;
    log.warn("settle.failed", { id, traceId: traceIdOf(trace), error });
    await new Promise<void>((resolve) => clock.after(waitMs, resolve));
    await this.#offer(attempt, settlement, Math.min(waitMs * 2, retryMsMax));
  }

  #settlementOf({ record, startedAt }: Attempt, outcome: Outcome): Settlement {
    const { clock, random, retryDelays } = this.#ports;
    const { retryDelay } = record.message.policy;
    return settleAttempt(
      record,
      { startedAt, endedAt: clock.now(), outcome },
      {
        chance: random.fraction(),
        retryDelayMs:
          retryDelay === undefined ? undefined : retryDelays.delayMs(retryDelay, record.retried),
      },
    );
  }

  /**
   * A call that was made here for a message of a lane has ended or was aborted, and its claim was lost meanwhile. If the
   * message was cancelled, its slot and its turn were left to this process (`cancelMessages`); else another attempt has them.
   */
  freeLane({ record }: Attempt): void {
    if (record.message.flow === undefined && record.message.queue === undefined) return;
    this.#telling += 1;
    void this.#freeLane(record.message)
      .catch((error: unknown) =>
        this.#ports.log.warn("slot.kept", { id: record.message.id, error }),
      )
      .finally(() => {
        this.#telling -= 1;
        this.#options.told();
      });
  }

  async #freeLane(message: Message): Promise<void> {
    const [found] = await this.#ports.records.get(message.tenant, [message.id]);
    if (found !== undefined && found.state.kind !== "canceled") return;
    const { bus, clock, queues } = this.#ports;
    await this.#giveLaneBack(message);
    if (message.queue === undefined) return;
    await queues.callsEnded(message.tenant, [message.id]);
    await bus.publish("scheduler.wake", [wakeLane(message.queue, clock.now())]);
  }

  #written(
    attempt: Attempt,
    settlement: Settlement,
    settled: Settled | undefined,
  ): Promise<void> | undefined {
    this.#writing -= 1;
    if (settled?.kind === "fenced") this.freeLane(attempt);
    if (settled?.kind === "ok" && settled.owed) this.#owed.add(settlement.message, settled.owed);
    if (settled?.kind !== "ok" || leavesNothing(settlement, settled.left)) {
      this.#answerBytes -= answerBytesOf(settlement);
      this.#end(attempt);
      return undefined;
    }
    this.#telling += 1;
    this.#options.ended(attempt);
    return this.#tellTraced(attempt, settlement, settled.left).finally(() => {
      this.#telling -= 1;
      this.#answerBytes -= answerBytesOf(settlement);
      this.#options.forgotten(attempt);
      this.#options.told();
    });
  }

  /** Nothing has to be told. */
  #end(attempt: Attempt): void {
    this.#options.forgotten(attempt);
    this.#options.ended(attempt);
  }

  /** Outside every trace, if this attempt is in none: what set it going may have been another's. */
  #tellTraced(attempt: Attempt, settlement: Settlement, left: readonly FollowUp[]): Promise<void> {
    const { tracer } = this.#options.telemetry;
    if (!tracer.isOn) return this.#tell(settlement, left);
    return tracer.within(attempt.span?.traceParent, () => this.#tell(settlement, left));
  }

  async #tell({ append, message, next }: Settlement, left: readonly FollowUp[]): Promise<void> {
    const postponed = (event: string) => (error: unknown) =>
      this.#ports.log.warn(event, { id: message.id, error });
    const fact = append.find((item) => item.kind === "fact");
    await Promise.all([
      this.#moveOn(message, next).catch(postponed("slot.kept")),
      this.#giveTurn(message, next).catch(postponed("turn.kept")),
      left.length > 0 &&
        tellSettled(this.#ports, { message, items: left, fact }).catch(
          postponed("follow-up.postponed"),
        ),
    ]);
  }

  /** Gives the slot back, and tells the scheduler what it may look at. */
  async #moveOn(message: Message, next: Settlement["next"]): Promise<void> {
    const { bus } = this.#ports;
    if (next.kind === "held")
      await bus.publish("scheduler.wake", [{ shard: message.shard, at: next.dueAt }]);
    await this.#giveLaneBack(message);
  }

  /** A turn that this write has ended goes to the next in line without another hop. */
  async #giveTurn({ queue, turnOf }: Message, next: Settlement["next"]): Promise<void> {
    const concerned = queue ?? turnOf?.queue;
    if (concerned === undefined || !isFinished(next)) return;
    const { bus, clock } = this.#ports;
    const admitted = await admit(this.#ports, concerned, this.#options.due);
    if (admitted && hasMore(admitted))
      await bus.publish("scheduler.wake", [wakeLane(concerned, clock.now())]);
  }

  async #giveLaneBack({ id, flow }: Message): Promise<void> {
    const { bus, clock, tokens } = this.#ports;
    if (flow === undefined) return;
    try {
      await tokens.release(flow, [id]);
    } finally {
      await bus.publish("scheduler.wake", [wakeLane(flow, clock.now())]);
    }
  }

  #report(
    { callingSince, record, startedAt }: Attempt,
    outcome: Outcome,
    settlement: Settlement,
  ): void {
    const { log, clock } = this.#ports;
    const { metrics } = this.#options.telemetry;
    countAttempt(metrics, { record, startedAt }, outcome, settlement.next, clock.now());
    const { run } = record.message;
    if (run && isSuccess(outcome)) this.#standing.answered(run);
    if (this.#options.failed && !isSuccess(outcome))
      this.#options.failed({ record, outcome, next: settlement.next });
    if (outcome.kind === "infrastructure") {
      log.warn("attempt.deferred", {
        id: record.message.id,
        traceId: traceIdOf(record.message.trace),
        code: outcome.code,
        reason: outcome.text,
      });
    }
    if (!log.debugs) return;
    log.debug("attempt.ended", {
      id: record.message.id,
      traceId: traceIdOf(record.message.trace),
      tenant: record.message.tenant,
      retried: record.retried,
      epoch: record.epoch,
      outcome: outcome.kind,
      status: outcome.kind === "answered" ? outcome.status : undefined,
      truncated: outcome.kind === "answered" && outcome.truncated ? true : undefined,
      state: settlement.next.kind,
      elapsedMs: clock.passedMs() - callingSince,
    });
  }
}

const leavesNothing = ({ message, next }: Settlement, left: readonly FollowUp[]): boolean =>
  left.length === 0 &&
  next.kind !== "held" &&
  message.flow === undefined &&
  message.queue === undefined &&
  message.turnOf === undefined;

/** All items of one settlement hold the same answer. */
const answerBytesOf = ({ append }: Settlement): number =>
  append.reduce((bytes, { response }) => Math.max(bytes, response?.body.length ?? 0), 0);
