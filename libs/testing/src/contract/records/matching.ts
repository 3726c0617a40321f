import { expect } from "@jest/globals";
import {
  accept,
  childOf,
  type LiveFilter,
  matchesLive,
  type Message,
  type MessageId,
  messageId,
  queueId,
} from "@posthaste/domain";
import { type Walk, type Walked } from "@posthaste/ports";
import { anotherTenant, aPolicy, aTenant } from "../../builders/message.ts";
import { drawnFilters, drawnMessage, liveFields } from "../../builders/drawn.ts";
import { dice } from "../../seeded-random.ts";
import { aFanOut } from "../../builders/fan-out.ts";
import { anEndpoint } from "../../builders/url-group.ts";
import {
  delivered,
  insert,
  insertClaimed,
  oneAtATime,
  type RecordsHarness,
  settle,
  type StoreGuarantee,
} from "./harness.ts";

const everything = { foundMax: 1_000, lookedMax: 5_000 };

const upToNow = (harness: RecordsHarness): Walk["upTo"] => ({
  id: harness.ids.next(),
  at: harness.now(),
});

const walk = (
  harness: RecordsHarness,
  filter: LiveFilter = {},
  given: Partial<Walk> = {},
): Promise<Walked> =>
  harness.records.matching(aTenant, filter, { ...everything, upTo: upToNow(harness), ...given });

/** Walks to the end, each step bounded by `bounds`. */
async function walkToEnd(
  harness: RecordsHarness,
  bounds: Partial<Walk>,
  filter: LiveFilter = {},
): Promise<readonly Walked[]> {
  const upTo = upToNow(harness);
  const steps: Walked[] = [];
  let after: string | undefined;
  do {
    const step = await walk(harness, filter, {
      ...bounds,
      upTo,
      ...(after !== undefined && { after }),
    });
    steps.push(step);
    after = step.next;
  } while (after !== undefined && steps.length < 100);
  return steps;
}

const several = async (harness: RecordsHarness, count: number): Promise<readonly Message[]> => {
  const messages: Message[] = [];
  for (let n = 0; n < count; n++) messages.push(await insert(harness, { delayMs: 60_000 }));
  return messages;
};
const idsOf = (messages: readonly Message[]): readonly MessageId[] => messages.map(({ id }) => id);

export function matching(it: StoreGuarantee): void {
  it("a walk finds live messages, in any state, in the order of the ids", async (harness) => {
    const held = await insert(harness, { delayMs: 60_000 });
    const waiting = await insert(harness, { flow: oneAtATime });
    const due = await insert(harness);
    const queued = await insert(harness, { queue: queueId(aTenant, "q") });
    const { message: claimed } = await insertClaimed(harness);
    const done = await insertClaimed(harness);
    await settle(harness, done, delivered);
    const canceled = await insert(harness);
    await harness.records.cancel(aTenant, [canceled.id]);
    await insert(harness, { tenant: anotherTenant });

    expect(await walk(harness)).toEqual({ ids: idsOf([held, waiting, due, queued, claimed]) });
  });

  it("a walk finds nothing that was made later than its end", async (harness) => {
    const before = await insert(harness);
    const upTo = upToNow(harness);
    await insert(harness);
    // An earlier id, like that of a retried dead letter.
    await insert(harness, { id: messageId("msg_00000000100000000000000001"), now: upTo.at + 1 });

    expect(await walk(harness, {}, { upTo })).toEqual({ ids: [before.id] });
  });

  it("a walk finds messages that match all filters, and any value of each", async (harness) => {
    const labelled = (labels: readonly string[]) => ({ policy: aPolicy({ labels }) });
    const both = await insert(harness, { ...labelled(["a", "b"]), url: "https://a.example/" });
    const other = await insert(harness, { ...labelled(["c"]), url: "https://a.example/" });
    await insert(harness, { ...labelled(["a"]), url: "https://b.example/" });
    const urls = ["https://a.example/", "https://c.example/"];
    const many = Array.from({ length: 50 }, (_, n) => `x${n}`);

    expect(await walk(harness, { labels: ["b", "c"], urls })).toEqual({
      ids: [both.id, other.id],
    });
    expect(await walk(harness, { labels: [...many, "c"], urls })).toEqual({ ids: [other.id] });
  });

  it("a walk by any filters finds the messages that match all of them, in steps of any size", async (harness) => {
    const chance = dice(1);
    const from = harness.now() - 10_000;
    const made: Message[] = [];
    for (let n = 0; n < 60; n++) made.push(await insert(harness, drawnMessage(chance, from)));

    for (const filter of drawnFilters(chance, liveFields(chance, from))) {
      const bounds = { foundMax: chance.integer(1, 40), lookedMax: chance.integer(10, 100) };
      const steps = await walkToEnd(harness, bounds, filter);

      const right = made.filter((message) => matchesLive(filter, message));
      expect([filter, steps.flatMap(({ ids }) => ids)]).toEqual([filter, idsOf(right)]);
    }
  });

  it("each step finds no more than its limit, and the next continues behind it", async (harness) => {
    const messages = await several(harness, 5);

    const steps = await walkToEnd(harness, { foundMax: 2 });

    expect(steps.flatMap(({ ids }) => ids)).toEqual(idsOf(messages));
    expect(Math.max(...steps.map(({ ids }) => ids.length))).toBe(2);
  });

  it("a step that finds nothing ends after a bounded number of records", async (harness) => {
    const messages = await several(harness, 5);
    const last = await insert(harness, { url: "https://rare.example/" });
    const upTo = upToNow(harness);
    const filter = { urls: [last.url] };

    const first = await walk(harness, filter, { upTo, lookedMax: 3 });
    const second = await walk(harness, filter, { upTo, after: first.next ?? "" });

    expect(messages).toHaveLength(5);
    expect(first).toEqual({ ids: [], next: expect.any(String) });
    expect(second).toEqual({ ids: [last.id] });
  });

  it("messages that end behind the walk, or ahead of it, do not move it", async (harness) => {
    const messages = await several(harness, 6);
    const [a, , c, d] = idsOf(messages);
    const upTo = upToNow(harness);
    const first = await walk(harness, {}, { upTo, foundMax: 3 });
    await harness.records.cancel(
      aTenant,
      [a, c, d].map((id) => id ?? messageId("")),
    );

    const second = await walk(harness, {}, { upTo, after: first.next ?? "" });

    expect(second).toEqual({ ids: idsOf(messages.slice(4)) });
  });

  it("children that are made later have the age of their fan-out", async (harness) => {
    const fanOut = aFanOut({ id: harness.ids.next(), now: harness.now(), endpointCount: 2 });
    await harness.fanOuts.insert(fanOut, "new");
    const upTo = upToNow(harness);
    const children = [0, 1].map((n) => childOf(fanOut, anEndpoint(), n));
    await harness.records.insert(
      children.map((child) => ({ record: accept(child, harness.now()) })),
      "new",
    );

    expect(await walk(harness, {}, { upTo })).toEqual({ ids: idsOf(children) });
  });

  it("the fan-outs of a tenant that make children are read page by page", async (harness) => {
    const fanOuts = [1, 2, 3, 4].map(() =>
      aFanOut({ id: harness.ids.next(), now: harness.now(), endpointCount: 2 }),
    );
    for (const fanOut of fanOuts) await harness.fanOuts.insert(fanOut, "new");
    const [a, b, c, d] = fanOuts.map(({ id }) => id);
    await harness.fanOuts.advance(b ?? messageId(""), 0, 2, true);
    const page = (after: MessageId | undefined, limit: number, tenant = aTenant) =>
      harness.fanOuts.expanding(tenant, after, d ?? messageId(""), limit);

    expect(await page(undefined, 1)).toEqual([a]);
    expect(await page(a, 10)).toEqual([c]);
    expect(await page(undefined, 10, anotherTenant)).toEqual([]);
  });
}
