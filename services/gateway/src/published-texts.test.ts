import { describe, expect, it } from "@jest/globals";
import { fault, type Group, groupChunkMax, messageId } from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type PublishOutcome, type PublishedGroup } from "@posthaste/engine";
import { aTenant, someEndpoints } from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { batchResultTexts, groupResultTexts } from "./published-texts.ts";
import { readsOf } from "./reads.fixture.ts";

async function openWithGroup(endpoints: number) {
  const { groups } = openInMemory(openEmbedded).store;
  await groups.replace(aTenant, "g", undefined, someEndpoints(endpoints), "new");
  const group = await groups.get(aTenant, "g");
  if (!group) throw new Error("it was made");
  return { ports: readsOf({ groups }), group };
}

const publishedTo = (group: Group): PublishedGroup => ({
  group,
  duplicates: 1,
  childAt: (index) => ({ messageId: messageId(`msg_${index}`), deduplicated: index === 1 }),
});

async function collected(texts: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const text of texts) all.push(text);
  return all;
}

const resultsIn = (text: string): number => text.split("messageId").length - 1;

describe("the outcomes of publishes, as text", () => {
  it("has an element for each endpoint of a group, in their order", async () => {
    const { ports, group } = await openWithGroup(1_200);

    const texts = await collected(groupResultTexts(ports, publishedTo(group)));

    expect(JSON.parse(texts.join(""))).toEqual(
      someEndpoints(1_200).map(({ url }, i) => ({
        messageId: `msg_${i}`,
        url,
        ...(i === 1 && { deduplicated: true }),
      })),
    );
    expect(Math.max(...texts.map(resultsIn))).toBeLessThanOrEqual(groupChunkMax);
  });

  it("has an element for each outcome of a batch, and no piece with more than a chunk has", async () => {
    const { ports, group } = await openWithGroup(1_000);
    const url = { messageId: messageId("msg_x"), url: "https://a.example/", deduplicated: false };
    const failed = fault("overloaded", 'it said "no"');
    const outcomes: readonly PublishOutcome[] = [
      ...Array.from({ length: 999 }, () => url),
      publishedTo(group),
      failed,
      publishedTo(group),
    ];

    const texts = await collected(batchResultTexts(ports, outcomes));

    const parsed = JSON.parse(texts.join("")) as readonly unknown[];
    expect(parsed).toHaveLength(1_002);
    expect(parsed[998]).toEqual({ messageId: "msg_x", url: "https://a.example/" });
    expect(parsed[1_000]).toEqual({ error: 'it said "no"' });
    expect([parsed[999], parsed[1_001]]).toMatchObject([{ length: 1_000 }, { length: 1_000 }]);
    expect(Math.max(...texts.map(resultsIn))).toBeLessThanOrEqual(groupChunkMax);
  });

  it("is an empty array for an empty batch", async () => {
    const { ports } = await openWithGroup(1);

    expect((await collected(batchResultTexts(ports, []))).join("")).toBe("[]");
  });
});
