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
  type InState,
  isCallOfRun,
  isNamed,
  isSuccess,
  keepsBodies,
  type Message,
  originHash,
  type Outcome,
  type Owner,
  queueOfEndedTurn,
  settleAttempt,
  type Settlement,
  type TenantId,
} from "@posthaste/domain";
import {
  type FollowUpPorts,
  hasMore,
  reportSettled,
  announceTurns,
  type Tenants,
  type TurnPorts,
  wakeLane,
} from "@posthaste/engine";
import {
  type Admitted,
  type Log,
  type MessageLog,
  type Random,
  type RetryDelays,
  type Settled,
  type Span,
  type Telemetry,
  type TokenStore,
} from "@posthaste/ports";
import { type Acceptance } from "./acceptance.ts";
import { type Attempt, beginSettling, beginTelling, endAttempt, newAttempt } from "./attempt.ts";
import { type Attempts } from "./attempts.ts";
import { type Lines } from "./lines.ts";
import { OwedLog } from "./owed-log.ts";
import { type Permits } from "./permits.ts";
import { type OnFailed, Report } from "./report.ts";
import { endAttemptSpan, startAttemptSpan, traceClaim, traceOf } from "./trace.ts";

export type SettlingPorts = FollowUpPorts &
  TurnPorts & {
    readonly tenants: Pick<Tenants, "get">;
    readonly tokens: TokenStore;
    readonly messageLog: Pick<MessageLog, "append">;
    readonly random: Random;
    readonly retryDelays: RetryDelays;
    readonly log: Log;
  };

export type SettlingParts = {
  readonly owner: Owner;
  readonly telemetry: Telemetry;
  readonly acceptance: Acceptance;
  readonly attempts: Attempts;
  readonly lines: Lines;
  readonly permits: Permits;
  readonly failed?: OnFailed;
};

/** A look at a queue. `end` says that the write that ends the turn was made. */
type Look = { readonly looked: Promise<Looked | undefined>; readonly end: () => void };
type Looked = Admitted & { readonly askedAt: number };

/** The bounds of outcomes that are being written, and of the answers of outcomes being written or told. */
const outcomesMax = 2_000;
const answerBytesMax = 64 * 1024 * 1024;

const retryMsMin = 50;
const retryMsMax = 1_000;

export class Settling {
  readonly #ports: SettlingPorts;
  readonly #parts: SettlingParts;
  readonly #report: Report;
  readonly #owed: OwedLog;
  #writing = 0;
  #telling = 0;
  #answerBytes = 0;

  constructor(ports: SettlingPorts, parts: SettlingParts) {
    const { metrics } = parts.telemetry;
    this.#ports = ports;
    this.#parts = parts;
    this.#owed = new OwedLog(ports, parts.lines);
    metrics.watch("posthaste_log_left_total", () => this.#owed.left);
    this.#report = new Report(ports, metrics, parts.failed);
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
    const look = begun ?? this.#lookBeside(settlement);
    return settling.then(
      ([settled]) => this.#written(attempt, settlement, settled, look),
      (error: unknown) => this.#offerLater(attempt, settlement, waitMs, error, look),
    );
  }

  /** Looks at the queue of a turn that ends, beside the write that ends it. The result is told after that write. */
  #lookBeside(settlement: Settlement): Look | undefined {
    const queue = queueOfEndedTurn(settlement);
    if (queue === undefined) return undefined;
    const { promise: written, resolve: end } = Promise.withResolvers<void>();
    const askedAt = this.#ports.clock.passedMs();
    const owner = this.#mayClaimFor(settlement.message.tenant) ? this.#parts.owner : undefined;
    const looked = this.#ports.queues.admit([queue], { owner, written }).then(
      ([admitted]) => admitted && { ...admitted, askedAt },
      (error: unknown) => {
        this.#ports.log.warn("turn.kept", { queue, error });
        return undefined;
      },
    );
    return { looked, end };
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
    this.#telling += 1;
    void this.#freeLane(record.message)
      .catch((error: unknown) =>
        this.#ports.log.warn("slot.kept", { id: record.message.id, ...traceOf(attempt), error }),
      )
      .finally(() => {
        this.#telling -= 1;
        this.#parts.lines.goOn();
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
      if (look) this.#tellTurnsAlone(look);
      this.#finish(attempt);
      return undefined;
    }
    this.#telling += 1;
    const telling = beginTelling(attempt);
    this.#leave(attempt);
    return this.#tellTraced(attempt, settlement, settled.left, look).finally(() => {
      this.#telling -= 1;
      this.#answerBytes -= answerBytesOf(settlement);
      endAttempt(telling);
      this.#parts.lines.goOn();
    });
  }

  /** Tells of the ended turn alone: another write has ended the message. */
  #tellTurnsAlone(look: Look): void {
    this.#telling += 1;
    void this.#tellTurns(look)
      .catch((error: unknown) => this.#ports.log.warn("turn.kept", { error }))
      .finally(() => {
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
      this.#tellTurns(look).catch(postponed("turn.kept")),
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

  /** Begins the next message of a queue whose turn has ended, without the scheduler. */
  async #tellTurns(look: Look | undefined): Promise<void> {
    const looked = await look?.looked;
    if (!looked) return;
    const { bus, clock } = this.#ports;
    if (looked.claimed) this.#take(looked.claimed, looked.askedAt);
    await announceTurns(this.#ports, looked, (hints) => this.#parts.attempts.share(hints));
    if (hasMore(looked)) await bus.publish("scheduler.wake", [wakeLane(looked.queue, clock.now())]);
  }

  /** Reports whether a message of the tenant may be claimed with its turn. The slot is taken after that, as for a named message. */
  #mayClaimFor(tenant: TenantId): boolean {
    const { lines, permits } = this.#parts;
    const isOpen = !lines.isClosed && !this.isFull && lines.isOpenToNamed;
    return isOpen && !permits.caps.isCapped(tenant) && permits.isFreeFor(tenant);
  }

  /** Begins the attempt of a message that was claimed with its turn, or gives it back: the deliverer may have begun to stop. */
  #take(record: InState<"claimed">, askedAt: number): void {
    const { acceptance, attempts, lines } = this.#parts;
    const { clock } = this.#ports;
    const attempt = newAttempt(record, originHash(record.message.url), askedAt, clock);
    attempt.untold = acceptance.mayLack(record);
    traceClaim(this.#parts.telemetry.tracer, record, {
      ...{ tookMs: clock.passedMs() - askedAt, now: clock.now(), batch: 1 },
    });
    if (!lines.isClosed) return attempts.addToLine(attempt);
    attempts.add(attempt);
    void this.giveBack(attempt);
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
