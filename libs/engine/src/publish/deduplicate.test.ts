import { serveLane } from "../lanes/turns.ts";
import { describe, expect, it } from "@jest/globals";
import {
  allShards,
  defaultPlan,
  isFault,
  limits,
  messageId,
  type MessageId,
  type PublishCommand,
  queueId,
} from "@posthaste/domain";
import { type Records, StoreError, type TokenStore } from "@posthaste/ports";
import {
  aCommand,
  aKey,
  anEndpoint,
  anotherTenant,
  aScheduleCommand,
  aTenant,
  seededRandom,
} from "@posthaste/testing";
import { listen, open, type Ports, read, rest } from "../opened.fixture.ts";
import { cancelMatching } from "../bulk/cancel-matching.ts";
import { cancelMessages } from "../bulk/cancel.ts";
import { endQueue, makeQueues } from "../lanes/queues.ts";
import { putSchedule } from "../schedules/change.ts";
import { confirmKeys } from "./deduplicate.ts";
import {
  claimAndDie,
  counting,
  once,
  publishOnce,
  publishToGroup,
  toGroup,
  withTokens,
} from "./deduplicate.fixture.ts";
import { publish, publishMany } from "./intake.ts";
import { addToGroup } from "./url-groups.ts";

describe("deduplication", () => {
  it("accepts the first message with an id, and answers the next with the first id for ten minutes", async () => {
    const { ports, inserted } = counting(open());

    const first = await publishOnce(ports);
    await ports.clock.advance(599_999);
    const second = await publishOnce(ports);
    await ports.clock.advance(2);
    const third = await publishOnce(ports);

    expect(first.deduplicated).toBe(false);
    expect(second).toEqual({ ...first, deduplicated: true });
    expect(third).toMatchObject({ deduplicated: false });
    expect(inserted).toEqual([first.messageId, third.messageId]);
  });

  it("takes another id, and another tenant's same id, for another message", async () => {
    const ports = open();

    const answers = [
      await publishOnce(ports, once("a")),
      await publishOnce(ports, once("b")),
      await publishOnce(ports, { ...once("a"), tenant: anotherTenant }),
    ];

    expect(answers.map(({ deduplicated }) => deduplicated)).toEqual([false, false, false]);
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(3);
  });

  it("holds also with a store of records that knows nothing of deduplication", async () => {
    const opened = open();
    const insert: Records["insert"] = (inserts, intake) =>
      opened.records.insert(
        inserts.map(({ record }) => ({ record })),
        intake,
      );
    const ports = { ...opened, records: { ...opened.records, insert } };

    const first = await publishOnce(ports);

    expect(await publishOnce(ports)).toEqual({ ...first, deduplicated: true });
  });

  it("waits a second for a publish that is under way, and then takes over with its id", async () => {
    const { ports, inserted } = counting(open());
    const dead = await claimAndDie(ports);
    let answered = false;

    const publishing = publishOnce(ports).finally(() => (answered = true));
    await ports.clock.advance(999);
    expect({ answered, inserted }).toEqual({ answered: false, inserted: [] });
    await ports.clock.advance(1);

    expect(await publishing).toMatchObject({ messageId: dead, deduplicated: false });
    expect(inserted).toEqual([dead]);
    expect(await publishOnce(ports)).toMatchObject({ messageId: dead, deduplicated: true });
  });

  it("answers with the first id when the publish under way is accepted meanwhile", async () => {
    const ports = open();
    const first = await claimAndDie(ports);

    const publishing = publishOnce(ports);
    await rest(ports);
    await ports.tokens.confirm([{ key: aKey("a"), id: first }]);
    await ports.clock.advance(1_000);

    expect(await publishing).toMatchObject({ messageId: first, deduplicated: true });
  });

  it("makes one message of two publishes if the second takes over while the first still inserts", async () => {
    const ports = open();
    const heard = await listen(ports);
    const slow: Records["insert"] = async (inserts, intake) => {
      await new Promise<void>((resolve) => ports.clock.after(5_000, resolve));
      return ports.records.insert(inserts, intake);
    };

    const first = publishOnce({ ...ports, records: { ...ports.records, insert: slow } });
    const second = publishOnce(ports);
    await ports.clock.advance(6_000);

    const answers = await Promise.all([first, second]);
    expect(answers[0].messageId).toBe(answers[1].messageId);
    expect(answers.map(({ deduplicated }) => deduplicated).toSorted()).toEqual([false, true]);
    expect(heard.due).toHaveLength(1);
  });

  it("answers outcome_unknown and inserts nothing when the claim took longer than 20 s", async () => {
    const { ports, inserted } = counting(open());
    const claim: TokenStore["claim"] = async (entries) => {
      const windows = await ports.tokens.claim(entries);
      await new Promise<void>((resolve) => ports.clock.after(20_001, resolve));
      return windows;
    };

    const publishing = publish(withTokens(ports, { claim }), once());
    await ports.clock.advance(20_001);

    expect(await publishing).toMatchObject({ fault: "outcome_unknown" });
    expect(inserted).toEqual([]);
  });

  it("is refused as unavailable while the token store is away, and inserts nothing; other publishes continue", async () => {
    const { ports: counted, inserted } = counting(open());
    const ports = withTokens(counted, {
      claim: () => Promise.reject(new StoreError("unavailable", "the token store is away")),
    });

    const refused = publish(ports, once());

    await expect(refused).rejects.toMatchObject({ name: "StoreError", code: "unavailable" });
    expect(inserted).toEqual([]);
    const plain = await publishOnce(ports, aCommand());
    expect(inserted).toEqual([plain.messageId]);
  });

  it("can be repeated with the same id after the store has failed, and yields the same message", async () => {
    const ports = open();
    const insert: Records["insert"] = async (inserts, intake) => {
      await ports.records.insert(
        inserts.map(({ record }) => ({ record })),
        intake,
      );
      throw new StoreError("unavailable", "the answer was lost");
    };

    const lost = publishOnce({ ...ports, records: { ...ports.records, insert } });
    await expect(lost).rejects.toMatchObject({ code: "unavailable" });
    const again = publishOnce(ports);
    await ports.clock.advance(1_000);

    const { messageId, deduplicated } = await again;
    expect(deduplicated).toBe(true);
    expect(await read(ports, { id: messageId, tenant: aTenant })).toBeDefined();
  });
});

describe.each(["disk_full", "overloaded"] as const)("a publish that is refused as %s", (code) => {
  const isFull = () => Promise.reject(new StoreError(code, "no room"));
  const withoutRoom = (ports: Ports): Ports => ({
    ...ports,
    records: { ...ports.records, insert: isFull },
    fanOuts: { ...ports.fanOuts, insert: isFull },
  });
  /** Publishes again, as a client does that was told to come back. */
  const saidAgain = async <T>({ clock }: Ports, say: () => Promise<T>): Promise<T> => {
    const again = say();
    await clock.advance(1_000);
    return again;
  };

  it("has changed nothing after a refusal, and a repeat is accepted once when there is space", async () => {
    const { ports, inserted } = counting(open());

    await expect(publishOnce(withoutRoom(ports))).rejects.toMatchObject({ code });
    await expect(
      saidAgain(ports, () => publishOnce(withoutRoom(ports)).catch((error: unknown) => error)),
    ).resolves.toMatchObject({ code });
    const taken = await saidAgain(ports, () => publishOnce(ports));

    expect(taken).not.toHaveProperty("deduplicated", true);
    expect(await publishOnce(ports)).toEqual({ ...taken, deduplicated: true });
    expect(inserted).toEqual([taken.messageId]);
  });

  it("may be one to a group, too", async () => {
    const { ports, inserted } = counting(open());
    const endpoints = [anEndpoint(0), anEndpoint(1)];
    await addToGroup(ports.groups, aTenant, "g", endpoints, defaultPlan);

    await expect(publishToGroup(withoutRoom(ports), toGroup())).rejects.toMatchObject({ code });
    const taken = await saidAgain(ports, () => publishToGroup(ports));
    const later = await publishToGroup(ports);

    expect(taken.map(({ deduplicated }) => deduplicated ?? false)).toEqual([false, false]);
    expect(later).toEqual(taken.map((each) => ({ ...each, deduplicated: true })));
    expect(inserted).toHaveLength(1);
  });
});

describe("a confirmation that fails", () => {
  it("costs the caller nothing: a stored message is answered, and confirmed as soon as the tokens are back", async () => {
    const { ports: counted, inserted } = counting(open());
    // A store of records without deduplication.
    const insert: Records["insert"] = (inserts, intake) =>
      counted.records.insert(
        inserts.map(({ record }) => ({ record })),
        intake,
      );
    let away = true;
    const ports = withTokens(
      { ...counted, records: { ...counted.records, insert } },
      {
        confirm: (entries) =>
          away
            ? Promise.reject(new StoreError("unavailable", "the tokens are away"))
            : counted.tokens.confirm(entries),
      },
    );

    const first = await publishOnce(ports);
    away = false;
    await ports.clock.advance(1_000);
    const second = await publishOnce(ports);

    expect(first.deduplicated).toBe(false);
    expect(second).toEqual({ ...first, deduplicated: true });
    expect(inserted).toEqual([first.messageId]);
  });
});

describe("keys whose confirmation has failed", () => {
  const entriesMax = 100_000;
  const entries = Array.from({ length: entriesMax }, (_, i) => ({
    key: aKey(`${i}`),
    id: messageId(`msg_${i}`),
  }));

  /** Returns a token store that confirms all keys, after some failed tries. */
  function opened() {
    const ports = open();
    const confirmed: number[] = [];
    let failures = 0;
    const tokens: Pick<TokenStore, "confirm"> = {
      confirm: async (given) => {
        if (failures-- > 0) throw new StoreError("unavailable", "the tokens are away");
        confirmed.push(given.length);
      },
    };
    const away = withTokens(ports, tokens);
    return {
      confirmed,
      confirm: async (tries: number, some = entries) => {
        failures = tries;
        await confirmKeys(away, some);
      },
      /** Advances the clock by as long as all tries take. */
      later: () => ports.clock.advance(limits.deduplicationPendingMs * 2 ** 11),
    };
  }

  it("are tried again up to a bound, and keys beyond it stay pending", async () => {
    const { confirm, confirmed, later } = opened();
    await confirm(1, entries.slice(1));
    await confirm(1, entries.slice(0, 2));
    await confirm(1, entries.slice(0, 1));

    await later();

    expect(confirmed).toEqual([entriesMax - 1, 1]);
  });

  it.each([
    ["confirmed", 1],
    ["given up", 100],
  ])("leave their places to as many others once they are %s", async (_, failures) => {
    const { confirm, confirmed, later } = opened();
    await confirm(failures);
    await later();
    const before = confirmed.length;

    await confirm(1);
    await later();

    expect(confirmed.slice(before)).toEqual([entriesMax]);
  });
});

describe("a key whose message or run was cancelled", () => {
  const inQueue = (): PublishCommand => ({ ...once(), queue: "q" });
  const ways: readonly (readonly [
    string,
    PublishCommand,
    (ports: Ports, id: MessageId) => Promise<unknown>,
  ])[] = [
    ["cancelled", once(), (ports, id) => cancelMessages(ports, aTenant, [id])],
    [
      "cancelled by a filter",
      once(),
      (ports) =>
        cancelMatching(ports, aTenant, {
          filter: {},
          countMax: 10,
          until: ports.clock.now() + 60_000,
        }),
    ],
    [
      "deleted with its queue",
      inQueue(),
      async (ports) => {
        await endQueue(ports, aTenant, "q");
        // Serving the lane cancels the messages in line.
        await serveLane(ports, queueId(aTenant, "q"));
      },
    ],
  ];

  it.each(ways)("is taken over by the next publish, and once: %s", async (_, command, end) => {
    const { ports, inserted } = counting(open());
    if (command.queue !== undefined) await makeQueues(ports, aTenant, ["q"], defaultPlan);
    const first = await publishOnce(ports, command);
    await end(ports, first.messageId);

    const second = await publishOnce(ports, command);
    const third = await publishOnce(ports, command);

    expect(second.deduplicated).toBe(false);
    expect(third).toEqual({ ...second, deduplicated: true });
    expect(inserted).toEqual([first.messageId, second.messageId]);
  });

  it("is taken over also when the cancelled record was removed, and only the log shows it", async () => {
    const ports = open();
    const first = await publishOnce(ports);
    await cancelMessages(ports, aTenant, [first.messageId]);
    await ports.clock.advance(90_000);
    await ports.records.removeFinished(allShards, ports.clock.now() - 1, 10);
    expect(await ports.records.progress(aTenant, [first.messageId])).toEqual([undefined]);

    expect(await publishOnce(ports)).toMatchObject({ deduplicated: false });
  });

  it("is taken over for the children of a group that were cancelled, and for no other", async () => {
    const ports = open();
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(0), anEndpoint(1)], defaultPlan);
    const [kept, canceled] = await publishToGroup(ports);
    if (!kept || !canceled) throw new Error("a group of two");
    await cancelMessages(ports, aTenant, [canceled.messageId]);

    const again = await publishToGroup(ports);

    expect(again.map(({ deduplicated }) => deduplicated)).toEqual([true, false]);
    expect(again[0]?.messageId).toBe(kept.messageId);
    expect(again[1]?.messageId).not.toBe(canceled.messageId);
  });

  it("is taken over in a batch", async () => {
    const ports = open();
    const first = await publishOnce(ports);
    await cancelMessages(ports, aTenant, [first.messageId]);

    const made = await publishMany(ports, [once(), once()]);

    expect(made).toMatchObject([{ deduplicated: false }, { deduplicated: true }]);
  });

  it("is not taken over while the message or run is live", async () => {
    const ports = open();
    const first = await publishOnce(ports);
    await ports.clock.advance(90_000);

    expect(await publishOnce(ports)).toEqual({ ...first, deduplicated: true });
  });

  it("is taken over for a schedule that was deleted", async () => {
    const ports = open();
    const given = {
      command: aScheduleCommand(),
      deduplication: { kind: "explicit", id: "nightly" },
    } as const;
    const random = seededRandom(1);
    const made = () => putSchedule({ ...ports, random }, given, defaultPlan);
    const first = await made();
    expect(await made()).toEqual({ ...first, deduplicated: true });
    if (isFault(first)) throw new Error(first.text);
    await ports.schedules.remove({ tenant: aTenant, id: first.id });

    const second = await made();

    expect(second).toMatchObject({ deduplicated: false });
    expect(await made()).toEqual({ ...second, deduplicated: true });
  });
});
