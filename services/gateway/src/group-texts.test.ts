import { describe, expect, it } from "@jest/globals";
import { type Endpoint, limits } from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type Groups } from "@posthaste/ports";
import { anEndpoint, anotherTenant, aTenant, sha256, someEndpoints } from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { groupListTexts, groupTexts } from "./group-texts.ts";
import { readsOf } from "./reads.fixture.ts";

function open() {
  const {
    clock,
    store: { groups },
  } = openInMemory(openEmbedded);
  const put = async (name: string, endpoints: readonly Endpoint[]) => {
    const version = (await groups.get(aTenant, name))?.version;
    expect(await groups.replace(aTenant, name, version, endpoints, "new")).toBe(true);
  };
  return { clock, groups, put };
}

async function collected(texts: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const text of texts) all.push(text);
  return all;
}

const shown = (texts: readonly string[]): unknown =>
  JSON.parse(texts.join(""), (key, value: unknown) => (key.endsWith("edAt") ? undefined : value));

describe("a list of groups", () => {
  it("of none is an empty array", async () => {
    const { clock, groups, put } = open();
    await groups.replace(anotherTenant, "theirs", undefined, [anEndpoint(0)], "new");

    expect(
      await collected(groupListTexts({ reads: readsOf({ groups }), sha256 }, clock, aTenant)),
    ).toEqual(["[]"]);
    await put("empty", []);
    expect(
      shown(
        await collected(groupListTexts({ reads: readsOf({ groups }), sha256 }, clock, aTenant)),
      ),
    ).toEqual([{ name: "empty", endpoints: [] }]);
  });

  it("has every group by name, whatever their sizes, and endpoints in their order", async () => {
    const { clock, groups, put } = open();
    const sizes = [1, 499, 500, 501, 3, 0, 1_700, 2, 2, 500, 500, 1];
    const expected = sizes.map((size, i) => ({
      name: `g${String(i).padStart(2, "0")}`,
      endpoints: someEndpoints(size),
    }));
    for (const { name, endpoints } of expected.toReversed()) await put(name, endpoints);

    const texts = await collected(
      groupListTexts({ reads: readsOf({ groups }), sha256 }, clock, aTenant),
    );

    expect(shown(texts)).toEqual(expected);
  });

  it("goes from page to page, and reads small groups together", async () => {
    const { clock, groups, put } = open();
    const names = Array.from({ length: 120 }, (_, i) => `g${String(i).padStart(3, "0")}`);
    for (const name of names) await put(name, [anEndpoint(0)]);
    let calls = 0;
    const counted: Groups = {
      ...groups,
      endpoints: (...asked) => {
        calls++;
        return groups.endpoints(...asked);
      },
    };

    const texts = await collected(
      groupListTexts({ reads: readsOf({ groups: counted }), sha256 }, clock, aTenant),
    );

    expect(shown(texts)).toMatchObject(names.map((name) => ({ name })));
    expect(calls).toBe(3);
  });

  it("makes no piece with more endpoints than a chunk has", async () => {
    const { clock, groups, put } = open();
    for (const name of ["a", "b", "c"]) await put(name, someEndpoints(2_000));

    const texts = await collected(
      groupListTexts({ reads: readsOf({ groups }), sha256 }, clock, aTenant),
    );

    const urlsIn = (text: string): number => text.split('"url"').length - 1;
    expect(Math.max(...texts.map(urlsIn))).toBe(500);
  });

  it("is read on by a slow caller after the groups were changed and the replaced ones swept", async () => {
    const { clock, groups, put } = open();
    for (const name of ["a", "b", "c"]) await put(name, someEndpoints(500));
    const texts = groupListTexts({ reads: readsOf({ groups }), sha256 }, clock, aTenant);
    const first = await texts.next();

    for (const name of ["a", "b", "c"]) await put(name, [anEndpoint(7)]);
    await clock.advance(limits.replacedChunkKeptMs + 10_000);
    expect(await groups.sweep(100)).toBe(3);
    const others = await collected(texts);

    expect(shown([first.value ?? "", ...others])).toEqual([
      { name: "a", endpoints: someEndpoints(500) },
      { name: "b", endpoints: [anEndpoint(7)] },
      { name: "c", endpoints: [anEndpoint(7)] },
    ]);
  });
});

it("a group of many endpoints is read chunk by chunk", async () => {
  const { groups, put } = open();
  await put("g", someEndpoints(1_001));
  const group = await groups.get(aTenant, "g");
  if (!group) throw new Error("there is no group");

  const texts = await collected(groupTexts({ reads: readsOf({ groups }), sha256 }, group));

  expect(texts).toHaveLength(4);
  expect(shown(texts)).toEqual({ name: "g", endpoints: someEndpoints(1_001) });
});
