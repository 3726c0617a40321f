import { expect } from "@jest/globals";
import {
  type DeadLetter,
  type DeadLetterFilter,
  dlqId,
  type DlqId,
  dlqIdOf,
  failureReasons,
  limits,
  type ListOrder,
  listOrders,
  matchesLetter,
  type TenantId,
} from "@posthaste/domain";
import { type DeadLetters, type Ids } from "@posthaste/ports";
import {
  aMessage,
  anotherTenant,
  aPolicy,
  aTenant,
  type MessageOverrides,
} from "../builders/message.ts";
import { drawnFilters, drawnMessage, letterFields } from "../builders/drawn.ts";
import { anAnswer } from "../builders/outcome.ts";
import { dice } from "../seeded-random.ts";
import { epochStart } from "../virtual-clock.ts";
import { type Closable, contract, type Deviation, type Guarantee } from "./guarantee.ts";
import { bytesOfThree, fatHeaders, readAll, readByBytes } from "./paging.ts";

export type DeadLettersHarness = Closable & {
  readonly deadLetters: DeadLetters;
  readonly ids: Pick<Ids, "next">;
};

export function describeDeadLetters(
  name: string,
  open: () => Promise<DeadLettersHarness>,
  deviations: readonly Deviation[] = [],
): void {
  contract(`${name}: dead letters`, open, { deviations }, (it) => {
    inserting(it);
    listing(it);
    cutting(it);
    removing(it);
  });
}

function inserting(it: Guarantee<DeadLettersHarness>): void {
  it("a dead letter is read back whole, bodies byte for byte", async (harness) => {
    const { status, headers, body, truncated } = anAnswer(500, {
      headers: [
        ["X-A", "1"],
        ["x-a", "2"],
      ],
      body: dice(1).bytes(70_000),
      truncated: true,
    });
    const answered = newLetter(
      harness,
      { body: dice(2).bytes(100_000) },
      { response: { status, headers, body, truncated } },
    );
    const silent = newLetter(
      harness,
      { body: new Uint8Array() },
      { error: "no answer", reason: "quarantined", retried: 0 },
    );

    await harness.deadLetters.insert([answered, silent]);

    expect(await harness.deadLetters.get(aTenant, answered.id)).toEqual(answered);
    expect(await harness.deadLetters.get(aTenant, silent.id)).toEqual(silent);
  });

  it("an insert of an existing dead letter leaves it unchanged", async (harness) => {
    const { deadLetters } = harness;
    const letter = newLetter(harness);
    await deadLetters.insert([letter]);

    await deadLetters.insert([{ ...letter, retried: 99 }, letter]);
    await Promise.all([deadLetters.insert([letter]), deadLetters.insert([letter])]);
    await deadLetters.insert([]);

    expect(await deadLetters.get(aTenant, letter.id)).toEqual(letter);
    expect(await readLetters(harness)).toHaveLength(1);
  });

  it("a dead letter belongs to its tenant", async (harness) => {
    const theirs = newLetter(harness, { tenant: anotherTenant });
    await harness.deadLetters.insert([theirs]);

    expect(await harness.deadLetters.get(aTenant, theirs.id)).toBeUndefined();
    expect(await readLetters(harness)).toEqual([]);
    expect(await harness.deadLetters.remove(aTenant, [theirs.id])).toBe(0);
    expect(await harness.deadLetters.get(anotherTenant, theirs.id)).toEqual(theirs);
  });
}

function listing(it: Guarantee<DeadLettersHarness>): void {
  it("dead letters are counted for each tenant, up to the given bound", async (harness) => {
    const { deadLetters } = harness;
    await insertMany(harness, 3);

    expect(await deadLetters.count(aTenant, 10)).toBe(3);
    expect(await deadLetters.count(aTenant, 2)).toBe(2);
    expect(await deadLetters.count(anotherTenant, 10)).toBe(0);
  });

  for (const order of listOrders) {
    it(`a list is ordered by failure, page by page, without gap or repeat: ${order}`, async (harness) => {
      const letters = await insertMany(harness, 12);
      const expected = letters.map(({ id }) => id).toSorted();

      for (const limit of [1, 5, 11, 12, 13]) {
        const ids = (await readLetters(harness, {}, order, limit)).map(({ id }) => id);
        expect(ids).toEqual(order === "earliestFirst" ? expected : expected.toReversed());
      }
    });

    it(`a page ends with the letter that fills its bytes, and the next page follows it: ${order}`, async (harness) => {
      const letters = Array.from({ length: 7 }, () => newLetter(harness, { headers: fatHeaders }));
      await harness.deadLetters.insert(letters);
      const expected = letters.map(({ id }) => id).toSorted();

      const { items, lengths } = await readByBytes(
        (page) => harness.deadLetters.list(aTenant, {}, { ...page, order, bodyBytesMax: 0 }),
        bytesOfThree,
      );

      expect(lengths).toEqual([3, 3, 1]);
      const ids = items.map(({ id }) => id);
      expect(order === "earliestFirst" ? ids : ids.toReversed()).toEqual(expected);
    });

    it(`pages do not shift while letters come and go: ${order}`, async (harness) => {
      const letters = await insertMany(harness, 10);
      const stay = letters.filter((_, i) => i % 2 === 0).map(({ id }) => id);
      const go = letters.filter((_, i) => i % 2 === 1).map(({ id }) => id);
      const disturb = async (): Promise<void> => {
        await insertMany(harness, 1);
        await harness.deadLetters.remove(aTenant, go.splice(0, 1));
      };

      const read = await readAll(
        (page) => harness.deadLetters.list(aTenant, {}, page),
        3,
        order,
        disturb,
      );

      const ids = read.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(expect.arrayContaining(stay));
    });

    // Each drawn filter finds the matches of the whole list, by whichever index.
    it(`pages by any filters have the letters that match all of them: ${order}`, async (harness) => {
      const chance = dice(order.length);
      const letters = Array.from({ length: 60 }, () => {
        const { now: failedAt, ...message } = drawnMessage(chance, epochStart);
        const status = chance.pick([0, 404, 500]);
        return newLetter(harness, message, {
          failedAt,
          ...(status > 0 && { response: anAnswer(status) }),
        });
      });
      await harness.deadLetters.insert(letters);
      const whole = await readLetters(harness, {}, order);

      for (const filter of drawnFilters(chance, letterFields(chance, epochStart, letters))) {
        const found = await readLetters(harness, filter, order, chance.integer(1, 40));

        const right = whole.filter((letter) => matchesLetter(filter, letter));
        expect([filter, idsOf(found)]).toEqual([filter, idsOf(right)]);
      }
    });
  }

  it("the last page has no cursor", async ({ deadLetters, ...harness }) => {
    await insertMany({ deadLetters, ...harness }, 3);

    const exact = await deadLetters.list(aTenant, {}, { limit: 3, order: "earliestFirst" });
    const less = await deadLetters.list(aTenant, {}, { limit: 2, order: "earliestFirst" });

    expect([exact.next, less.next !== undefined]).toEqual([undefined, true]);
  });

  it("letters of every reason are listed as they were put", async (harness) => {
    const letters = failureReasons.map((reason) => newLetter(harness, {}, { reason }));
    await harness.deadLetters.insert(letters);

    const listed = await readLetters(harness);

    expect(listed.map(({ reason }) => reason).toSorted()).toEqual(failureReasons.toSorted());
  });

  it("a list is narrowed to some letters, or to those of some messages", async (harness) => {
    const [first, second] = await insertMany(harness, 4);
    if (!first || !second) throw new Error("unreachable");

    const byId = await readLetters(harness, { ids: [second.id, dlqId("0-unheard-of")] });
    const byMessage = await readLetters(harness, { messageIds: [first.message.id] });

    expect(byId.map(({ id }) => id)).toEqual([second.id]);
    expect(byMessage.map(({ id }) => id)).toEqual([first.id]);
    expect(await readLetters(harness, { ids: [] })).toEqual([]);
  });
}

function cutting(it: Guarantee<DeadLettersHarness>): void {
  const body = dice(3).bytes(10_000);
  const response = anAnswer(500, { body: dice(4).bytes(9_000) });

  it("a list reads no more of a body than it shows, and one byte", async (harness) => {
    const letter = newLetter(harness, { body }, { response });
    await harness.deadLetters.insert([letter]);

    const page = { limit: 10, order: "earliestFirst", bodyBytesMax: 100 } as const;
    const [read] = (await harness.deadLetters.list(aTenant, {}, page)).items;

    expect(read).toEqual({
      ...letter,
      message: { ...letter.message, body: body.slice(0, 101) },
      response: { ...letter.response, body: response.body.slice(0, 101) },
    });
  });

  it("a page of large letters ends after one reading and one letter more", async (harness) => {
    const large = new Uint8Array(limits.readBytesMax * 0.4);
    const letters = Array.from({ length: 5 }, () => newLetter(harness, { body: large }));
    for (const letter of letters) await harness.deadLetters.insert([letter]);
    const held: number[] = [];

    const read = await readAll(
      async (page) => {
        const got = await harness.deadLetters.list(aTenant, {}, page);
        held.push(got.items.reduce((sum, { message }) => sum + message.body.length, 0));
        return got;
      },
      100,
      "earliestFirst",
    );

    expect(read.map(({ id }) => id)).toEqual(letters.map(({ id }) => id));
    expect(Math.max(...held)).toBeLessThanOrEqual(limits.readBytesMax + large.length);
  });

  it("a list that shows no bodies reads none", async (harness) => {
    const letter = newLetter(harness, { body }, { response });
    await harness.deadLetters.insert([letter]);

    const page = { limit: 10, order: "earliestFirst", bodyBytesMax: 0 } as const;
    const [read] = (await harness.deadLetters.list(aTenant, {}, page)).items;

    expect([read?.message.body.length, read?.response?.body.length]).toEqual([0, 0]);
  });

  it("a list reads bodies whole that it shows as their hash", async (harness) => {
    const policy = aPolicy({ redaction: { body: true, headers: [] } });
    const letter = newLetter(harness, { body, policy }, { response });
    await harness.deadLetters.insert([letter]);

    const page = { limit: 10, order: "earliestFirst", bodyBytesMax: 100 } as const;

    expect((await harness.deadLetters.list(aTenant, {}, page)).items).toEqual([letter]);
  });
}

const idsOf = (letters: readonly DeadLetter[]): readonly DlqId[] => letters.map(({ id }) => id);

function removing(it: Guarantee<DeadLettersHarness>): void {
  it("a removal deletes the letters, and returns how many there were", async (harness) => {
    const [first, second, third] = await insertMany(harness, 3);
    if (!first || !second || !third) throw new Error("unreachable");

    const removed = await harness.deadLetters.remove(aTenant, [
      first.id,
      dlqId("0-unheard-of"),
      third.id,
    ]);

    expect(removed).toBe(2);
    expect(await harness.deadLetters.get(aTenant, first.id)).toBeUndefined();
    expect((await readLetters(harness)).map(({ id }) => id)).toEqual([second.id]);
    expect(await harness.deadLetters.remove(aTenant, [first.id])).toBe(0);
    expect(await harness.deadLetters.remove(aTenant, [])).toBe(0);
  });

  it("ten removals of one letter at once count it once", async (harness) => {
    const [letter] = await insertMany(harness, 1);
    if (!letter) throw new Error("unreachable");

    const counts = await Promise.all(
      Array.from({ length: 10 }, () => harness.deadLetters.remove(aTenant, [letter.id])),
    );

    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1);
  });

  it("a sweep removes earlier failures, no more than its limit, and leaves the rest", async (harness) => {
    const letters = Array.from({ length: 6 }, (_, i) =>
      newLetter(harness, {}, { failedAt: epochStart + i }),
    );
    const theirs = newLetter(harness, { tenant: anotherTenant }, { failedAt: epochStart });
    await harness.deadLetters.insert([...letters, theirs]);

    for (const count of [3, 1, 0])
      expect(await harness.deadLetters.sweep(aTenant, epochStart + 4, 3)).toBe(count);

    expect(await harness.deadLetters.get(anotherTenant, theirs.id)).toBeDefined();
    const left = (await readLetters(harness)).map(({ failedAt }) => failedAt - epochStart);
    expect(left).toEqual([4, 5]);
  });
}

let made = 0;

function newLetter(
  { ids }: DeadLettersHarness,
  message: MessageOverrides = {},
  letter: Partial<DeadLetter> = {},
): DeadLetter {
  made += 1;
  const failed = aMessage({ id: ids.next(), ...message });
  const failedAt = letter.failedAt ?? epochStart + made;
  return {
    id: dlqIdOf(failed.id, failedAt),
    failedAt,
    reason: "retries_exhausted",
    message: failed,
    retried: 3,
    ...bare(letter),
  };
}

/** Returns the answer as a letter has it: without the kind of an outcome. */
function bare({ response, ...letter }: Partial<DeadLetter>): Partial<DeadLetter> {
  if (!response) return letter;
  const { status, headers, body, truncated } = response;
  return { ...letter, response: { status, headers, body, truncated } };
}

async function insertMany(
  harness: DeadLettersHarness,
  count: number,
): Promise<readonly DeadLetter[]> {
  const letters = Array.from({ length: count }, () => newLetter(harness));
  await harness.deadLetters.insert(letters);
  return letters;
}

const readLetters = (
  { deadLetters }: DeadLettersHarness,
  filter: DeadLetterFilter = {},
  order: ListOrder = "earliestFirst",
  limit = 1_000,
  tenant: TenantId = aTenant,
): Promise<readonly DeadLetter[]> =>
  readAll((page) => deadLetters.list(tenant, filter, page), limit, order);
