/** The contract of `Groups`: a version is read whole or not at all, and one of many concurrent swaps succeeds. */
import { expect } from "@jest/globals";
import { type Endpoint, type Group, groupChunkMax } from "@posthaste/domain";
import { type FanOuts, type Groups, type Ids } from "@posthaste/ports";
import { aFanOut } from "../builders/fan-out.ts";
import { anotherTenant, aTenant } from "../builders/message.ts";
import { anEndpoint, someEndpoints } from "../builders/url-group.ts";
import { type Closable, contract, type Guarantee } from "./guarantee.ts";

/** `fanOuts` and `ids` are for the publishes that use the groups' chunks. */
export type GroupsHarness = Closable & {
  readonly groups: Groups;
  readonly fanOuts: FanOuts;
  readonly ids: Pick<Ids, "next">;
  readonly now: () => number;
  readonly advance: (ms: number) => Promise<void>;
};

export function describeGroups(name: string, open: () => Promise<GroupsHarness>): void {
  contract(`${name}: groups`, open, {}, (it) => {
    reading(it);
    replacing(it);
    configuring(it);
    removing(it);
    sweeping(it);
  });
}

function reading(it: Guarantee<GroupsHarness>): void {
  it("a group that was never made is not found", async ({ groups }) => {
    expect(await groups.get(aTenant, "g")).toBeUndefined();
    expect(await groups.list(aTenant, whole)).toEqual([]);
    expect(await groups.count(aTenant, 10)).toBe(0);
    expect(await groups.endpoints(aTenant, [])).toEqual([]);
  });

  it("a group is read back with its endpoints in their order, names and all", async (harness) => {
    const endpoints = [
      anEndpoint(3, "third"),
      anEndpoint(1),
      anEndpoint(2, "with a space"),
      anEndpoint(0),
    ];
    const from = harness.now();
    const group = await create(harness, "g", endpoints);

    expect(group).toMatchObject({
      tenant: aTenant,
      name: "g",
      endpointCount: 4,
      updatedAt: group.createdAt,
    });
    expect(group.createdAt).toBeGreaterThan(from);
    expect(group.createdAt).toBeLessThanOrEqual(harness.now() + 1);
    expect(await endpointsOf(harness, group)).toEqual(endpoints);
  });

  it("a group of 10,000 endpoints is kept in chunks of at most 500", async (harness) => {
    const endpoints = someEndpoints(10_000);
    const group = await create(harness, "g", endpoints);

    expect(group.chunks.length).toBeGreaterThanOrEqual(10_000 / groupChunkMax);
    expect(group.endpointCount).toBe(10_000);
    expect(await endpointsOf(harness, group)).toEqual(endpoints);
  });

  it("groups belong to their tenant", async (harness) => {
    const { groups } = harness;
    const mine = await create(harness, "g", [anEndpoint(0)]);

    expect(await groups.get(anotherTenant, "g")).toBeUndefined();
    expect(await groups.list(anotherTenant, whole)).toEqual([]);
    expect(await groups.replace(anotherTenant, "g", mine.version, [], "new")).toBe(false);
    await groups.remove(anotherTenant, "g");
    expect(await groups.get(aTenant, "g")).toEqual(mine);
  });

  it("a list holds every group of the tenant", async (harness) => {
    for (const name of ["a", "b", "c.d-e_F"]) await create(harness, name, [anEndpoint(0)]);

    const names = (await harness.groups.list(aTenant, whole)).map(({ name }) => name);

    expect(names).toEqual(["a", "b", "c.d-e_F"]);
  });

  it("a page of a list begins behind the given name, with no more groups than requested", async (harness) => {
    const { groups } = harness;
    for (const name of ["b", "a", "d", "C", "c"]) await create(harness, name, [anEndpoint(0)]);
    await groups.replace(anotherTenant, "aa", undefined, [anEndpoint(0)], "new");

    const namesOf = async (after: string, limit: number) =>
      (await groups.list(aTenant, { after, limit })).map(({ name }) => name);

    expect(await namesOf("", 2)).toEqual(["C", "a"]);
    expect(await namesOf("a", 2)).toEqual(["b", "c"]);
    expect(await namesOf("aa", 10)).toEqual(["b", "c", "d"]);
    expect(await namesOf("d", 2)).toEqual([]);
  });

  it("groups are counted for each tenant, up to the given bound", async (harness) => {
    const { groups } = harness;
    for (const name of ["a", "b", "c"]) await create(harness, name, [anEndpoint(0)]);
    await groups.replace(anotherTenant, "d", undefined, [anEndpoint(0)], "new");

    expect(await groups.count(aTenant, 10)).toBe(3);
    expect(await groups.count(aTenant, 2)).toBe(2);
    expect(await groups.count(anotherTenant, 10)).toBe(1);
  });
}

function replacing(it: Guarantee<GroupsHarness>): void {
  it("a replacement of the current version succeeds, and raises the version", async (harness) => {
    const before = await create(harness, "g", someEndpoints(2));
    await harness.advance(10);

    const replaced = await harness.groups.replace(
      aTenant,
      "g",
      before.version,
      someEndpoints(3),
      "new",
    );

    const after = await find(harness, "g");
    expect(replaced).toBe(true);
    expect(after).toMatchObject({ createdAt: before.createdAt, endpointCount: 3 });
    expect(after.version).toBeGreaterThan(before.version);
    expect(after.updatedAt).toBeGreaterThan(before.updatedAt);
    expect(await endpointsOf(harness, after)).toEqual(someEndpoints(3));
  });

  it("a replacement of another version changes nothing", async (harness) => {
    const { groups } = harness;
    const group = await create(harness, "g", someEndpoints(2));

    expect(await groups.replace(aTenant, "g", group.version + 1, [], "new")).toBe(false);
    expect(await groups.replace(aTenant, "g", group.version - 1, [], "new")).toBe(false);
    expect(await groups.replace(aTenant, "g", undefined, [], "new")).toBe(false);
    expect(await groups.replace(aTenant, "unheard-of", group.version, [], "new")).toBe(false);
    expect(await find(harness, "g")).toEqual(group);
    expect(await groups.list(aTenant, whole)).toHaveLength(1);
  });

  it("of ten replacements of one version exactly one succeeds", async (harness) => {
    const { version } = await create(harness, "g", []);
    const versions = Array.from({ length: 10 }, (_, i) => someEndpoints(i + 1));

    const answers = await Promise.all(
      versions.map((endpoints) => harness.groups.replace(aTenant, "g", version, endpoints, "new")),
    );

    const winner = versions[answers.indexOf(true)];
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await endpointsOf(harness, await find(harness, "g"))).toEqual(winner);
  });

  it("of ten creations at once exactly one succeeds", async ({ groups }) => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        groups.replace(aTenant, "g", undefined, someEndpoints(i), "new"),
      ),
    );

    expect(answers.filter(Boolean)).toHaveLength(1);
  });

  it("ten upserts at once, each repeated after a conflict, lose nothing", async (harness) => {
    await create(harness, "g", []);

    await Promise.all(Array.from({ length: 10 }, (_, i) => add(harness, anEndpoint(i))));

    const urls = (await endpointsOf(harness, await find(harness, "g"))).map(({ url }) => url);
    expect(urls.toSorted()).toEqual(
      someEndpoints(10)
        .map(({ url }) => url)
        .toSorted(),
    );
  });

  it("a version that is being read stays whole, even when another replaces it", async (harness) => {
    const before = await create(harness, "g", someEndpoints(700));
    await harness.groups.replace(aTenant, "g", before.version, [anEndpoint(0)], "new");
    await harness.groups.sweep(100);

    expect(await endpointsOf(harness, before)).toEqual(someEndpoints(700));
  });
}

function configuring(it: Guarantee<GroupsHarness>): void {
  const headers = [
    ["Service-Retries", "3"],
    ["Service-Forward-X", "a"],
    ["Service-Forward-X", "b"],
  ] as const;

  it("default headers are read back, and stay when the endpoints change", async (harness) => {
    const { groups } = harness;
    const group = await create(harness, "g", [anEndpoint(0)]);
    await harness.advance(1_000);

    expect(await groups.configure(aTenant, "g", headers)).toBe(true);

    const configured = await find(harness, "g");
    expect(configured).toEqual({ ...group, headers, updatedAt: configured.updatedAt });
    expect(configured.updatedAt).toBeGreaterThan(group.updatedAt);
    expect(await groups.list(aTenant, whole)).toEqual([configured]);
    await groups.replace(aTenant, "g", configured.version, [anEndpoint(1)], "new");
    expect((await find(harness, "g")).headers).toEqual(headers);
  });

  it("default headers are replaced whole, and none clears them", async (harness) => {
    const { groups } = harness;
    await create(harness, "g", [anEndpoint(0)]);
    await groups.configure(aTenant, "g", headers);

    await groups.configure(aTenant, "g", [["Upstash-Delay", "1m"]]);
    expect((await find(harness, "g")).headers).toEqual([["Upstash-Delay", "1m"]]);

    await groups.configure(aTenant, "g", []);
    expect(await find(harness, "g")).not.toHaveProperty("headers");
  });

  it("default headers of a missing group make no group", async ({ groups }) => {
    expect(await groups.configure(aTenant, "g", headers)).toBe(false);
    expect(await groups.get(aTenant, "g")).toBeUndefined();
  });

  it("a group that is made anew has no default headers of its predecessor", async (harness) => {
    const { groups } = harness;
    await create(harness, "g", [anEndpoint(0)]);
    await groups.configure(aTenant, "g", headers);
    await groups.remove(aTenant, "g");

    expect(await create(harness, "g", [anEndpoint(0)])).not.toHaveProperty("headers");
  });

  it("another tenant's group of the same name keeps its own", async (harness) => {
    await create(harness, "g", [anEndpoint(0)]);

    expect(await harness.groups.configure(anotherTenant, "g", headers)).toBe(false);
    expect(await find(harness, "g")).not.toHaveProperty("headers");
  });
}

function removing(it: Guarantee<GroupsHarness>): void {
  it("a removal under a version leaves a group that was changed since", async (harness) => {
    const { groups } = harness;
    const old = await create(harness, "g", [anEndpoint(0)]);
    await groups.replace(aTenant, "g", old.version, [anEndpoint(1)], "new");
    await groups.remove(aTenant, "g", old.version);
    const current = await find(harness, "g");
    const endpoints = await endpointsOf(harness, current);
    await groups.remove(aTenant, "g", current.version);

    expect(endpoints).toEqual([anEndpoint(1)]);
    expect(await groups.get(aTenant, "g")).toBeUndefined();
  });

  it("a removed group is not found, and a second removal is no error", async (harness) => {
    const { groups } = harness;
    await create(harness, "g", someEndpoints(2));
    await groups.remove(aTenant, "g");
    await groups.remove(aTenant, "g");
    await groups.remove(aTenant, "unheard-of");

    expect(await groups.get(aTenant, "g")).toBeUndefined();
    expect(await groups.list(aTenant, whole)).toEqual([]);
  });

  it("a group may be made again after its removal, and versions of the old one do not fit it", async (harness) => {
    const old = await create(harness, "g", someEndpoints(2));
    await harness.groups.remove(aTenant, "g");
    await harness.advance(10);

    const made = await create(harness, "g", someEndpoints(1));

    expect(await harness.groups.replace(aTenant, "g", old.version, [], "new")).toBe(false);
    expect(await endpointsOf(harness, made)).toEqual(someEndpoints(1));
  });
}

function sweeping(it: Guarantee<GroupsHarness>): void {
  it("the chunks of a replaced version live for as long as a parent expands over them", async (harness) => {
    const { groups, fanOuts } = harness;
    const before = await create(harness, "g", someEndpoints(700));
    const parent = await publishTo(harness, before);
    await groups.replace(aTenant, "g", before.version, [anEndpoint(0)], "new");
    await harness.advance(anHourMs);
    const keptAll = await groups.sweep(100);
    const stillThere = await endpointsOf(harness, before);
    await fanOuts.advance(parent, 0, 700, true);
    await harness.advance(anHourMs);
    const swept = await groups.sweep(100);

    expect(keptAll).toBe(0);
    expect(stillThere).toEqual(someEndpoints(700));
    expect(swept).toBe(before.chunks.length);
  });

  it("the chunks of a removed group are deleted, up to the limit at a time, and no chunk of another group", async (harness) => {
    const { groups } = harness;
    const gone = await create(harness, "gone", someEndpoints(1_200));
    const kept = await create(harness, "kept", someEndpoints(1_200));
    await groups.remove(aTenant, "gone");
    await harness.advance(anHourMs);

    const first = await groups.sweep(2);
    const rest = await groups.sweep(100);

    expect(first).toBe(2);
    expect(first + rest).toBe(gone.chunks.length);
    expect(await groups.sweep(100)).toBe(0);
    expect(await endpointsOf(harness, kept)).toEqual(someEndpoints(1_200));
  });
}

/** Longer than any publish may take between reading a version and inserting its parent. */
const anHourMs = 3_600_000;

async function create(
  harness: GroupsHarness,
  name: string,
  endpoints: readonly Endpoint[],
): Promise<Group> {
  expect(await harness.groups.replace(aTenant, name, undefined, endpoints, "new")).toBe(true);
  return find(harness, name);
}

async function find({ groups }: GroupsHarness, name: string): Promise<Group> {
  const group = await groups.get(aTenant, name);
  if (!group) throw new Error(`there is no group ${name}`);
  return group;
}

const whole = { after: "", limit: 100 };

const endpointsOf = ({ groups }: GroupsHarness, { chunks }: Group): Promise<readonly Endpoint[]> =>
  groups.endpoints(aTenant, chunks);

const triesMax = 50;

async function add(harness: GroupsHarness, endpoint: Endpoint): Promise<void> {
  for (let attempt = 0; attempt < triesMax; attempt++) {
    const group = await find(harness, "g");
    const endpoints = [...(await endpointsOf(harness, group)), endpoint];
    if (await harness.groups.replace(aTenant, "g", group.version, endpoints, "new")) return;
  }
  throw new Error(`somebody was faster ${triesMax} times`);
}

async function publishTo(
  { fanOuts, ids, now }: GroupsHarness,
  { name, chunks, endpointCount }: Group,
) {
  const fanOut = aFanOut({ id: ids.next(), now: now(), group: name, chunks, endpointCount });
  await fanOuts.insert(fanOut, "new");
  return fanOut.id;
}
