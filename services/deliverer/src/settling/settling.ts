/**
 * Settles attempts: the outcome of a call becomes one write. Once the store has taken it, the components that it
 * concerns are told. A telling that fails loses nothing: outbox and alarms are in the store, and a lane's slot
 * expires with its lease.
 *
 * (1) An outcome is written until the store takes it or fences it (deliverer.ts (3)).
 * (2) Most messages leave nothing to tell.
 */
import {
  asResult,
  type FollowUp,
  giveBack,
  isCallOfRun,
  isNamed,
  isSuccess,
  keepsBodies,
  type Message,
  type Outcome,
  settleAttempt,
  type Settlement,
} from "@posthaste/domain";
import { OwedLog, reportSettled, wakeLane } from "@posthaste/engine";
import { type Settled, type Span } from "@posthaste/ports";
import { type Attempt, beginSettling, beginTelling, endAttempt } from "../attempts/attempt.ts";
import { type SharedParts } from "../parts.ts";
import { type DelivererPorts } from "../ports.ts";
import { type OnFailed, Report } from "./report.ts";
import { endAttemptSpan, startAttemptSpan, traceOf } from "../trace.ts";
import { type Look, Turns } from "./turns.ts";

type SettlingParts = SharedParts & { readonly failed?: OnFailed };

/** The bounds of outcomes that are being written, and of the answers of outcomes being written or told. */
const outcomesMax = 2_000;
const answerBytesMax = 64 * 1024 * 1024;

const retryMsMin = 50;
const retryMsMax = 1_000;

export class Settling {
  readonly #ports: DelivererPorts;
  readonly #parts: SettlingParts;
  readonly #report: Report;
  readonly #turns: Turns;
  readonly #owed: OwedLog;
  #writing = 0;
  #telling = 0;
  #answerBytes = 0;

  constructor(ports: DelivererPorts, parts: SettlingParts) {
    const { metrics } = parts.telemetry;
    this.#ports = ports;
    this.#parts = parts;
    this.#owed = new OwedLog(ports, parts.lines.goOn);
    metrics.watch("posthaste_log_left_total", () => this.#owed.left);
    this.#report = new Report(ports, metrics, parts.failed);
    this.#turns = new Turns(ports, parts, (attempt) => void this.giveBack(attempt));
  }

  /** Reports whether too much waits to be written for another claim. */
  get isFull(): boolean {
    return this.#writing >= outcomesMax || this.#answerBytes >= answerBytesMax;
  }

  /** Reports whether outcomes are being told, or log rows wait to be written. */
  get isTelling(): boolean {
    return this.#telling > 0 || !this.#owed.isEmpty;
  }

  /** Leaves the waiting log rows to the removal of their records. Called when the time to drain is over. */
  leaveLog(): void {
    this.#owed.leaveAll();
  }

  stop(): void {
    this.#report.stop();
    this.#owed.stop();
  }

  settle(attempt: Attempt<"calling">, received: Outcome): Promise<void> {
    const outcome = isCallOfRun(attempt.record.message) ? asResult(received) : received;
    if (!isSuccess(outcome)) attempt.span ??= this.#startFailed(attempt);
    endAttemptSpan(attempt.span, outcome);
    if (attempt.lost) {
      this.#finish(beginSettling(attempt));
      return Promise.resolve();
    }
    const settlement = this.#settlementOf(attempt, outcome);
    this.#report.ended(attempt, outcome, settlement.next);
    return this.write(attempt, settlement);
  }

  #startFailed({ record, state }: Attempt<"calling">): Span | undefined {
    const { clock } = this.#ports;
    const tookMs = clock.passedMs() - state.since;
    return startAttemptSpan(this.#parts.telemetry.tracer, record, { now: clock.now(), tookMs });
  }

  /** Gives a claim back before its call: any deliverer may have the message. */
  giveBack(attempt: Attempt<"waiting" | "calling">): Promise<void> {
    const { record } = attempt;
    if (isNamed(record))
      this.#parts.telemetry.metrics.count("posthaste_named_hints_total", "handedBack");
    return this.write(attempt, giveBack(record, this.#ports.clock.now()));
  }

  write(attempt: Attempt<"waiting" | "calling">, settlement: Settlement): Promise<void> {
    this.#writing += 1;
    this.#answerBytes += answerBytesOf(settlement);
    // Where a settlement carries a fact, the log learns of the acceptance with it.
    if (attempt.untold && settlement.append.length === 0) this.#parts.acceptance.tell([attempt]);
    return this.#offer(beginSettling(attempt), settlement, retryMsMin);
  }

  #offer(
    attempt: Attempt<"settling">,
    settlement: Settlement,
    waitMs: number,
    begun?: Look,
  ): Promise<void> {
    if (attempt.lost) return Promise.resolve(this.#written(attempt, settlement, undefined, begun));
    const settling = this.#ports.records.settle([settlement]);
    const look = begun ?? this.#turns.lookBeside(settlement, !this.isFull);
    return settling.then(
      ([settled]) => this.#written(attempt, settlement, settled, look),
      (error: unknown) => this.#offerLater(attempt, settlement, waitMs, error, look),
    );
  }

  async #offerLater(
    attempt: Attempt<"settling">,
    settlement: Settlement,
    waitMs: number,
    error: unknown,
    look: Look | undefined,
  ): Promise<void> {
    const { clock, log } = this.#ports;
    const { id } = settlement.message;
    log.warn("settle.failed", { id, ...traceOf(attempt), error });
    await new Promise<void>((resolve) => clock.after(waitMs, resolve));
    await this.#offer(attempt, settlement, Math.min(waitMs * 2, retryMsMax), look);
  }

  #settlementOf({ record, state }: Attempt<"calling">, outcome: Outcome): Settlement {
    const { clock, random, retryDelays, tenants } = this.#ports;
    const { policy, tenant } = record.message;
    const { retryDelay } = policy;
    return settleAttempt(
      record,
      { startedAt: state.startedAt, endedAt: clock.now(), outcome },
      {
        chance: random.fraction(),
        retryDelayMs:
          retryDelay === undefined ? undefined : retryDelays.delayMs(retryDelay, record.retried),
        keepsNoBody: !keepsBodies(tenants.get(tenant)?.plan),
      },
    );
  }

  /**
   * Gives back the lane's slot and the queue's turn of a call whose claim was lost, if the message was cancelled: `cancelMessages` leaves both
   * to this process. Otherwise another attempt holds them.
   */
  freeLane(attempt: Attempt): void {
    const { record } = attempt;
    if (record.message.flow === undefined && record.message.queue === undefined) return;
    void this.#counted(() =>
      this.#freeLane(record.message).catch((error: unknown) =>
        this.#ports.log.warn("slot.kept", { id: record.message.id, ...traceOf(attempt), error }),
      ),
    );
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
    attempt: Attempt<"settling">,
    settlement: Settlement,
    settled: Settled | undefined,
    look: Look | undefined,
  ): Promise<void> | undefined {
    this.#writing -= 1;
    look?.end();
    if (settled?.kind === "fenced") this.freeLane(attempt);
    if (settled?.kind === "ok" && settled.owed) this.#owed.add(settlement.message, settled.owed);
    if (settled?.kind !== "ok" || leavesNothing(settlement, settled.left)) {
      this.#answerBytes -= answerBytesOf(settlement);
      // Another write may have ended the message: the ended turn is told of alone.
      if (look) void this.#counted(() => this.#turns.tell(look));
      this.#finish(attempt);
      return undefined;
    }
    return this.#counted(() => {
      const telling = beginTelling(attempt);
      this.#leave(attempt);
      return this.#tellTraced(attempt, settlement, settled.left, look).finally(() => {
        this.#answerBytes -= answerBytesOf(settlement);
        endAttempt(telling);
      });
    });
  }

  /** Counts what `tell` does as under way until it has ended. */
  #counted(tell: () => Promise<void>): Promise<void> {
    this.#telling += 1;
    return tell().finally(() => {
      this.#telling -= 1;
      this.#parts.lines.goOn();
    });
  }

  /** Ends an attempt that leaves nothing to tell. */
  #finish(attempt: Attempt<"settling">): void {
    endAttempt(attempt);
    this.#leave(attempt);
  }

  #leave(attempt: Attempt): void {
    this.#parts.attempts.end(attempt);
    this.#parts.lines.goOn();
  }

  /** Tells within the message's trace, if it has one. A trace that a failure began contains attempts only. */
  #tellTraced(
    attempt: Attempt,
    settlement: Settlement,
    left: readonly FollowUp[],
    look: Look | undefined,
  ): Promise<void> {
    const { tracer } = this.#parts.telemetry;
    if (!tracer.isOn) return this.#tell(attempt, settlement, left, look);
    const { trace } = attempt.record.message;
    const within = trace === undefined ? undefined : attempt.span?.traceParent;
    return tracer.within(within, () => this.#tell(attempt, settlement, left, look));
  }

  async #tell(
    attempt: Attempt,
    settlement: Settlement,
    left: readonly FollowUp[],
    look: Look | undefined,
  ): Promise<void> {
    const { append, message, next } = settlement;
    const trace = traceOf(attempt);
    const postponed = (event: string) => (error: unknown) =>
      this.#ports.log.warn(event, { id: message.id, ...trace, error });
    const fact = append.find((item) => item.kind === "fact");
    await Promise.all([
      this.#moveOn(message, next).catch(postponed("slot.kept")),
      this.#turns.tell(look),
      left.length > 0 &&
        reportSettled(this.#ports, { message, outbox: left, fact }).catch(
          postponed("follow-up.postponed"),
        ),
    ]);
  }

  /** Gives the lane's slot back, and wakes the scheduler for a held message. */
  async #moveOn(message: Message, next: Settlement["next"]): Promise<void> {
    const { bus } = this.#ports;
    if (next.kind === "held")
      await bus.publish("scheduler.wake", [
        { shard: message.shard, at: next.dueAt, source: "record" },
      ]);
    await this.#giveLaneBack(message);
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
}

const leavesNothing = ({ message, next }: Settlement, left: readonly FollowUp[]): boolean =>
  left.length === 0 &&
  next.kind !== "held" &&
  message.flow === undefined &&
  message.queue === undefined &&
  message.turnOf === undefined;

/** Returns the bytes of the answer, which all items of a settlement share. */
function answerBytesOf({ answer, append }: Settlement): number {
  let bytes = answer?.length ?? 0;
  for (const { response } of append) bytes = Math.max(bytes, response?.body.length ?? 0);
  return bytes;
}
