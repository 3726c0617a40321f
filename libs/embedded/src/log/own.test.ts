/** Tests the log of whole rows beside rows of events, by messages that end in every way, in drawn order. */
import { describe, expect, it } from "@jest/globals";
import {
  accept,
  allShards,
  type Answered,
  createdEvent,
  eventsOf,
  type LogFilter,
  type LogState,
  type Message,
  settleAttempt,
  type Settlement,
} from "@posthaste/domain";
import {
  aMessage,
  anAnswer,
  anAttempt,
  anOwner,
  aPolicy,
  aTenant,
  type Dice,
  dice,
} from "@posthaste/testing";
import { copyOf, countRows, newDirectory, openIn, type Opened } from "../opened.fixture.ts";

type Told = {
  readonly id: string;
  readonly at: number;
  readonly state: LogState;
  readonly answered?: Answered;
};

const seed = Number(process.env["POSTHASTE_TEST_SEED"] ?? 1);
const messages = 400;

/** Publishes, delivers, retries, fails and cancels messages over some seconds. Returns all events in order. */
async function workload({ clock, ids, records }: Opened, chance: Dice): Promise<readonly Told[]> {
  const told: Told[] = [];
  const tell = ({ message, append }: Pick<Settlement, "append" | "message">): void => {
    for (const item of append)
      if (item.kind === "fact")
        for (const { attempt: _, ...event } of eventsOf(item))
          told.push({ id: message.id, ...event });
  };
  const insert = async (): Promise<Message> => {
    const labels = chance.chance(0.3) ? ["some"] : [];
    const message = aMessage({ id: ids.next(), now: clock.now(), policy: aPolicy({ labels }) });
    await records.insert([{ record: accept(message, clock.now()) }], "new");
    const { at, state } = createdEvent(message.createdAt);
    told.push({ id: message.id, at, state });
    return message;
  };
  const end = async (message: Message): Promise<void> => {
    const [record] = await records.claim([message.id], anOwner);
    if (!record) throw new Error("not claimed");
    const startedAt = clock.now();
    await clock.advance(chance.chance(0.02) ? 1_100 : chance.pick([0, 0, 1, 2, 10]));
    if (chance.chance(0.1)) {
      const [canceled] = await records.cancel(aTenant, [message.id]);
      if (canceled?.kind !== "canceled") throw new Error("not canceled");
      const at = clock.now();
      // A canceled call begins with its claim.
      told.push({ id: message.id, at: startedAt, state: "ACTIVE" });
      told.push({ id: message.id, at, state: "CANCEL_REQUESTED" });
      told.push({ id: message.id, at, state: "CANCELED" });
      return;
    }
    const status = chance.pick([200, 200, 201, 500, 489]);
    const body = new Uint8Array(chance.integer(0, 300));
    const attempt = anAttempt(anAnswer(status, { body }), {
      endedAt: clock.now(),
      tookMs: clock.now() - startedAt,
    });
    const settlement = settleAttempt(record, attempt, { chance: 0, retryDelayMs: 60_000 });
    await records.settle([settlement]);
    tell(settlement);
  };

  const waiting: Message[] = [];
  for (let i = 0; i < messages; i++) {
    waiting.push(await insert());
    await clock.advance(chance.chance(0.02) ? 700 : chance.pick([0, 0, 0, 1, 2]));
    // Ends one of the latest waiting messages, and leaves some for good.
    const [next] = chance.chance(0.8) ? waiting.splice(-chance.integer(1, 3), 1) : [];
    if (next) await end(next);
  }
  return told.toSorted((a, b) => a.at - b.at);
}

async function read(
  { messageLog }: Pick<Opened, "messageLog">,
  filter: LogFilter,
  order: "earliestFirst" | "latestFirst",
  limit: number,
): Promise<readonly Told[]> {
  const found: Told[] = [];
  let after: string | undefined;
  do {
    const page = { limit, order, ...(after !== undefined && { after }) };
    const { items, next } = await messageLog.list(aTenant, filter, page);
    found.push(
      ...items.map(({ event: { attempt: _, ...event }, message: { id } }) => ({ id, ...event })),
    );
    after = next;
  } while (after !== undefined);
  return found;
}

async function deliver({ clock, records }: Opened, message: Message): Promise<void> {
  const [record] = await records.claim([message.id], anOwner);
  if (!record) throw new Error(`${message.id} could not be claimed`);
  await clock.advance(1);
  const attempt = anAttempt(anAnswer(200), { endedAt: clock.now(), tookMs: 1 });
  await records.settle([settleAttempt(record, attempt, { chance: 0, retryDelayMs: 1_000 })]);
}

const sorted = (told: readonly Told[]) =>
  told
    .map(({ id, at, state, answered: of }) => `${at} ${id} ${state} ${of?.status} ${of?.bytes}`)
    .toSorted();

describe(`events that rows tell beside rows of events, seed ${seed}`, () => {
  it.each(["earliestFirst", "latestFirst"] as const)(
    "are listed once each, in the order of time, by any filter and in pages of any length: %s",
    async (order) => {
      const opened = openIn(newDirectory());
      const all = await workload(opened, dice(seed));
      const times = all.map(({ at }) => at);
      const middle = times[Math.floor(times.length / 2)] ?? 0;
      const [one, other] = [all[0]?.id, all.at(-1)?.id] as Message["id"][];
      const filters: readonly [LogFilter, (told: Told) => boolean][] = [
        [{}, () => true],
        [{ states: ["CREATED"] }, ({ state }) => state === "CREATED"],
        [{ states: ["RETRY", "CANCELED"] }, ({ state }) => /RETRY|CANCELED/.test(state)],
        [{ states: ["ACTIVE", "FAILED"] }, ({ state }) => /ACTIVE|FAILED/.test(state)],
        [{ from: middle }, ({ at }) => at >= middle],
        [{ to: middle - 500 }, ({ at }) => at <= middle - 500],
        [{ from: middle - 700, to: middle + 700 }, ({ at }) => Math.abs(at - middle) <= 700],
        [{ messageIds: one && other ? [one, other] : [] }, ({ id }) => id === one || id === other],
      ];

      expect(countRows(opened.dataDir, "configurations")).toBeGreaterThan(messages / 10);
      expect(countRows(opened.dataDir, "messages WHERE told IS NOT NULL")).toBeGreaterThan(
        messages / 10,
      );
      for (const [filter, isWanted] of filters) {
        const wanted = all.filter(isWanted);
        for (const limit of [7, 5_000]) {
          const found = await read(opened, filter, order, limit);
          expect([filter, limit, sorted(found)]).toEqual([filter, limit, sorted(wanted)]);
          const at = wanted.map((told) => told.at);
          expect(found.map((told) => told.at)).toEqual(
            order === "earliestFirst" ? at : at.toReversed(),
          );
        }
      }
    },
  );

  it("are the same when the log is written again from elsewhere, which gives them rows of their own", async () => {
    const opened = openIn(newDirectory());
    const message = aMessage({ id: opened.ids.next(), now: opened.clock.now() });
    await opened.records.insert([{ record: accept(message, opened.clock.now()) }], "new");
    await deliver(opened, message);
    const told = await read(opened, {}, "earliestFirst", 10);

    await opened.messageLog.append([{ message }]);

    expect(countRows(opened.dataDir, "events")).toBe(3);
    expect(await read(opened, {}, "earliestFirst", 10)).toEqual(told);
    expect(told.at(-1)).toMatchObject({ answered: { status: 200, bytes: 0 } });
  });

  it("are counted once each, also again after a kill, and none is left when all is swept", async () => {
    const opened = openIn(newDirectory());
    const { clock } = opened;
    const all = await workload(opened, dice(seed + 1));
    const ids = [...new Set(all.map(({ id }) => id))] as Message["id"][];
    const after = openIn(copyOf(opened), { clock });
    const countsOf = async ({ messageLog }: Opened) => {
      const counts = new Map<string, number>();
      for (const { counts: of } of await messageLog.counts(aTenant, 0, clock.now()))
        for (const [state, n] of Object.entries(of))
          counts.set(state, (counts.get(state) ?? 0) + n);
      return counts;
    };
    const right = Map.groupBy(all, ({ state }) => state);

    for (const store of [opened, after])
      expect(await countsOf(store)).toEqual(
        new Map([...right].map(([state, told]) => [state, told.length])),
      );

    await after.records.cancel(aTenant, ids);
    await clock.advance(3_600_000);
    // The first sweep passes no row that is still a record.
    await after.messageLog.sweep(aTenant, clock.now(), 1_000);
    await after.records.removeFinished(allShards, clock.now(), 1_000);
    await after.messageLog.sweep(aTenant, clock.now(), 1_000);
    const left = Object.fromEntries(
      ["messages", "configurations", "bodies", "events", "terms", "details"].map((table) => [
        table,
        countRows(after.dataDir, table),
      ]),
    );
    // A message that failed leaves its configuration and body to its dead letter.
    const letters = countRows(after.dataDir, "dead_letters");
    expect(left).toMatchObject({ messages: 0, events: 0, configurations: letters, details: 0 });
  });
});
