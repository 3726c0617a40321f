/** The ports of a backend as the checks watch them: every effect, for which process and when. Nothing is changed on the way. */
import {
  type DlqId,
  dlqIdOf,
  isFinished,
  isNamed,
  type MessageId,
  ownFactOf,
  type Run,
  type Schedule,
} from "@posthaste/domain";
import {
  type Alarms,
  type DeadLetters,
  type EventBus,
  type FanOuts,
  type FlowLanes,
  type MessageLog,
  type NextUse,
  type Queues,
  type Records,
  type RunStore,
  type RunWrite,
  type Schedules,
  type Settled,
  type TokenStore,
} from "@posthaste/ports";
import { type RunChange } from "../runs/seen.ts";
import { messagesByOp } from "../checks/letters.ts";
import { appliedKey, type History, scheduleKeyText, type ScheduleWrite } from "./history.ts";
import { type World } from "./world.ts";

export type Watching = { readonly history: History; readonly world: World; readonly node: string };

export function observedRecords(records: Records, { history, world, node }: Watching): Records {
  const epochOf = (id: MessageId): number => history.claims.get(id)?.at(-1)?.epoch ?? 0;
  /** I4: an epoch belongs to the worker that raised it. */
  const checkClaimer = (id: MessageId, epoch: number): void => {
    const claim = history.claims.get(id)?.find((each) => each.epoch === epoch);
    if (claim && claim.node !== node)
      history.violate(
        "I4",
        `${node} writes about ${id} at epoch ${epoch}, which ${claim.node} has`,
      );
  };
  return {
    ...records,
    insert: async (inserts, intake) => {
      const inserted = await records.insert(inserts, intake);
      for (const [i, { record }] of inserts.entries()) {
        const { id } = record.message;
        world.trace(`${node} insert ${id} ${record.state.kind}: ${inserted[i]}`);
        if (inserted[i] !== "inserted") continue;
        const lives = history.lives.get(id) ?? [];
        history.lives.set(id, [...lives, { record, at: world.now, node }]);
        history.claims.delete(id);
        const { state } = record;
        if (state.kind === "claimed")
          noteClaim(history, id, record.epoch, nodeOf(state.owner), world.now);
      }
      return inserted;
    },
    claim: async (ids, owner) => {
      const claimed = await records.claim(ids, owner);
      for (const { message, epoch, leaseLosses } of claimed) {
        world.trace(`${node} claim ${message.id} epoch ${epoch}`);
        if (epoch <= epochOf(message.id))
          history.violate("I4", `${message.id} was claimed twice at epoch ${epoch}`);
        const first = history.lives.get(message.id)?.[0]?.record;
        if (first && isNamed(first) && epoch === 2 && leaseLosses > 0)
          history.violate("C24", `${message.id} has lost a lease that only its insert had taken`);
        if (leaseLosses > 0) history.count("takeovers");
        noteClaim(history, message.id, epoch, node, world.now);
      }
      return claimed;
    },
    renew: async (claims) => {
      for (const { id, epoch } of claims) checkClaimer(id, epoch);
      return records.renew(claims);
    },
    settle: async (settlements) => {
      const settled = await records.settle(settlements);
      for (const [i, settlement] of settlements.entries()) {
        const { message, epoch, next } = settlement;
        const kind = settled[i]?.kind ?? "nothing";
        checkClaimer(message.id, epoch);
        world.trace(`${node} settle ${message.id} epoch ${epoch} → ${next.kind}: ${kind}`);
        if (kind !== "ok") {
          history.count("fenced");
          continue;
        }
        if (epoch < epochOf(message.id))
          history.violate("I4", `${message.id} was settled at epoch ${epoch}, after a later claim`);
        const key = appliedKey(message.id, epoch);
        if (history.applied.has(key)) continue;
        if (history.cancels.has(message.id))
          history.violate("C5", `${message.id} was settled after it was canceled`);
        history.applied.set(key, { node, at: world.now, settlement });
        if (ownFactOf(settlement) && leavesNothing(settled[i]))
          noteLogged(history, message.id, world.now);
      }
      return settled;
    },
    cancel: async (tenant, ids) => {
      const answers = await records.cancel(tenant, ids);
      for (const [i, answer] of answers.entries()) {
        const id = ids[i];
        if (id === undefined || answer.kind !== "canceled") continue;
        world.trace(`${node} cancel ${id}, which was ${answer.was}`);
        if (history.cancels.has(id)) history.violate("C5", `${id} was canceled twice`);
        // A publisher that was paused beyond its window may have made the record again (C4 then asks for the cause).
        const again = (history.lives.get(id)?.length ?? 0) > 1;
        if (!again && history.appliedOf(id).some(({ settlement }) => isFinished(settlement.next)))
          history.violate("C5", `${id} was canceled after its end`);
        history.cancels.set(id, { at: world.now, ackedAt: undefined });
      }
      return answers;
    },
    drop: async (tenant, ids) => {
      const dropped = await records.drop(tenant, ids);
      for (const { id } of dropped) world.trace(`${node} drop ${id}`);
      return dropped;
    },
  };
}

/** A deletion cancels the messages that have a turn, in the store. */
export const observedQueues = (queues: Queues, { history, world, node }: Watching): Queues => ({
  ...queues,
  admit: async (ids, ending) => {
    const admitted = await queues.admit(ids, ending);
    for (const { queue, given, claimed } of admitted) {
      if (given > 0) world.trace(`${node} admit ${given} of ${queue}`);
      if (claimed) noteClaim(history, claimed.message.id, claimed.epoch, node, world.now);
    }
    return admitted;
  },
  end: async (tenant, name) => {
    const answers = await queues.end(tenant, name);
    for (const answer of answers)
      if (answer.kind === "canceled")
        history.cancels.set(answer.message.id, { at: world.now, ackedAt: undefined });
    return answers;
  },
});

/** Records that a change writes join the history like those of an insert. */
export function observedRuns(runs: RunStore, { history, world, node }: Watching): RunStore {
  const note = (
    before: Run | undefined,
    { run, parts, deliveries }: RunWrite,
    inherited?: RunChange["inherited"],
  ): void => {
    const names = parts.map(({ name }) => name).join(" ");
    world.trace(`${node} writes ${run.key} version ${run.version} ${run.state.kind} ${names}`);
    history.runs.note({
      ...{ node, at: world.now, before, after: run, parts },
      ...(inherited && { inherited }),
    });
    for (const record of deliveries) {
      const { id } = record.message;
      if (history.lives.has(id)) continue;
      history.lives.set(id, [{ record, at: world.now, node }]);
      if (record.state.kind === "claimed") noteClaim(history, id, record.epoch, node, world.now);
    }
  };
  return {
    ...runs,
    start: async (tenant, id, intake, make) => {
      const last: { write?: RunWrite } = {};
      const started = await runs.start(tenant, id, intake, (use) => (last.write = make(use)));
      if (last.write && started.kind === "started") note(undefined, last.write);
      return started;
    },
    resume: async (tenant, id, inherited, make) => {
      const last: { write?: RunWrite } = {};
      const given = (use: NextUse): RunWrite => (last.write = make(use));
      const started = await runs.resume(tenant, id, inherited, given);
      const isStarted = started !== "gone" && started.kind === "started";
      if (last.write && isStarted)
        note(undefined, last.write, { of: inherited.of.key, names: inherited.names });
      return started;
    },
    change: async (address, decide) => {
      const last: { before?: Run; write?: RunWrite | undefined } = {};
      const verdict = await runs.change(address, (before) => {
        const decision = decide(before);
        Object.assign(last, { before, write: decision.write });
        return decision;
      });
      if (last.write) note(last.before, last.write);
      return verdict;
    },
  };
}

export const observedAlarms = (alarms: Alarms, { history }: Watching): Alarms => ({
  ...alarms,
  ring: async (...given) => {
    const rings = await alarms.ring(...given);
    history.count("rings");
    return rings;
  },
});

export const observedFanOuts = (fanOuts: FanOuts, { history, world, node }: Watching): FanOuts => ({
  ...fanOuts,
  insert: async (fanOut, ...rest) => {
    const inserted = await fanOuts.insert(fanOut, ...rest);
    world.trace(`${node} insert fan-out ${fanOut.id}: ${inserted}`);
    if (inserted === "inserted") history.fanOuts.set(fanOut.id, fanOut.tenant);
    return inserted;
  },
});

export const observedFlowLanes = (lanes: FlowLanes, { world, node }: Watching): FlowLanes => ({
  ...lanes,
  promote: async (lane, ids, ...rest) => {
    const promoted = await lanes.promote(lane, ids, ...rest);
    if (promoted.length > 0) world.trace(`${node} promote ${promoted.join(" ")}`);
    return promoted;
  },
});

export function observedSchedules(
  schedules: Schedules,
  { history, world, node }: Watching,
): Schedules {
  /** When this process first read each version. */
  const readAt = new Map<string, number>();
  const versionText = (schedule: Schedule, version: number): string =>
    `${scheduleKeyText(schedule)} ${schedule.uid} ${version}`;
  const note = (by: ScheduleWrite["by"], schedule: Schedule): void => {
    const key = scheduleKeyText(schedule);
    const { version, next, pending, isPaused } = schedule;
    world.trace(
      `${node} writes ${key} ${JSON.stringify({ by, version, next, pending, isPaused })}`,
    );
    const write = {
      by,
      schedule,
      at: world.now,
      node,
      readAt: readAt.get(versionText(schedule, version - 1)) ?? -Infinity,
    };
    history.schedules.set(key, [...(history.schedules.get(key) ?? []), write]);
  };
  return {
    ...schedules,
    put: async (schedule, intake) => {
      const written = await schedules.put(schedule, intake);
      if (written) note("caller", schedule);
      return written;
    },
    move: async (moved) => {
      const written = await schedules.move(moved);
      for (const [i, schedule] of moved.entries()) if (written[i]) note("scheduler", schedule);
      return written;
    },
    get: async (keys) => {
      const found = await schedules.get(keys);
      for (const schedule of found) {
        if (!schedule) continue;
        const text = versionText(schedule, schedule.version);
        if (!readAt.has(text)) readAt.set(text, world.now);
      }
      return found;
    },
    remove: async (key) => {
      await schedules.remove(key);
      const text = scheduleKeyText(key);
      world.trace(`${node} removes ${text}`);
      const writes = history.schedules.get(text) ?? [];
      history.schedules.set(text, [...writes, { by: "removal", at: world.now }]);
    },
  };
}

/** Returns the node of a life, whose name is also that of the owner of its claims. */
export const nodeOf = (owner: string): string => owner.replace(/#\d+$/, "");

export function noteClaim(
  history: History,
  id: MessageId,
  epoch: number,
  node: string,
  at: number,
): void {
  history.claims.set(id, [...(history.claims.get(id) ?? []), { epoch, node, at }]);
}

export function observedTokens(tokens: TokenStore, { history, world, node }: Watching): TokenStore {
  return {
    ...tokens,
    acquire: async (lane, ids, limits) => {
      const acquired = await tokens.acquire(lane, ids, limits);
      const { rate, periodMs, parallelism } = limits;
      history.grants.push({
        lane,
        node,
        at: world.now,
        ids: acquired.granted,
        rate,
        periodMs,
        parallelism,
      });
      if (acquired.granted.length > 0)
        world.trace(`${node} acquire ${lane}: ${acquired.granted.length} of ${ids.length}`);
      return acquired;
    },
    use: async (lane, ids) => {
      const gone = new Set(await tokens.use(lane, ids));
      for (const id of ids) if (!gone.has(id)) history.uses.push({ id, at: world.now });
      return [...gone];
    },
  };
}

export const observedMessageLog = (log: MessageLog, { history, world }: Watching): MessageLog => ({
  ...log,
  append: async (entries) => {
    await log.append(entries);
    for (const { message } of entries) noteLogged(history, message.id, world.now);
  },
});

/** Reports whether the settle itself has written the log. */
const leavesNothing = (settled: Settled | undefined): boolean =>
  settled?.kind === "ok" && settled.left.length === 0 && settled.owed === undefined;

export function noteLogged({ logged }: History, id: MessageId, now: number): void {
  if (!logged.has(id)) logged.set(id, now);
}

/** E2 at the removal of a letter: the message that it became exists. */
export const observedDeadLetters = (letters: DeadLetters, watching: Watching): DeadLetters => ({
  ...letters,
  remove: async (tenant, ids) => {
    const removed = await letters.remove(tenant, ids);
    for (const id of ids) noteLetterTaken(watching, id);
    return removed;
  },
});

export function noteLetterTaken({ history, world, node }: Watching, id: DlqId): void {
  world.trace(`${node} removes the dead letter ${id}`);
  history.lettersTaken.add(id);
  const op = history.lettersAsked.get(id);
  const taken = [...history.lettersTaken].filter((each) => history.lettersAsked.get(each) === op);
  if (op === undefined || (messagesByOp(history).get(op) ?? []).length <= taken.length)
    history.violate("E2", `the dead letter ${id} went before its message was there`);
}

/** I6 when the fact of a failure is published. */
export function observedBus(
  bus: EventBus,
  deadLetters: DeadLetters,
  { history, world, node }: Watching,
): EventBus {
  return {
    ...bus,
    publish: async (topic, events) => {
      world.trace(`${node} says ${topic} × ${events.length}`);
      await bus.publish(topic, events);
      for (const event of events) {
        if (!("fact" in event) || event.fact.ended !== "failed") continue;
        const id = dlqIdOf(event.id, event.fact.endedAt);
        const letter = await deadLetters.get(event.message.tenant, id);
        if (!letter && !history.lettersTaken.has(id))
          history.violate(
            "I6",
            `the failure of ${event.id} was said before its dead letter was written`,
          );
      }
    },
  };
}
