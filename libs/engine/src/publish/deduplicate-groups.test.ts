import { describe, expect, it } from "@jest/globals";
import { defaultPlan, messageId, type MessageId, parentOf } from "@posthaste/domain";
import { type FanOuts, StoreError } from "@posthaste/ports";
import { anEndpoint, aTenant } from "@posthaste/testing";
import { open, type Ports, rest } from "../opened.fixture.ts";
import { type Published } from "./accept.ts";
import { counting, publishOnce, publishToGroup, toGroup } from "./deduplicate.fixture.ts";
import { publish } from "./intake.ts";
import { addToGroup, removeFromGroup } from "./url-groups.ts";

describe("deduplication of a group publish", () => {
  const plan = defaultPlan;

  it("finds each endpoint new or a duplicate on its own", async () => {
    const ports = open();
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(0), anEndpoint(1)], plan);
    const first = await publishToGroup(ports);
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(2)], plan);

    const second = await publishToGroup(ports);

    expect(second.map(({ deduplicated }) => deduplicated)).toEqual([true, true, false]);
    expect(second.slice(0, 2).map(({ messageId }) => messageId)).toEqual(
      first.map(({ messageId }) => messageId),
    );
  });

  it("makes no parent when all endpoints are duplicates", async () => {
    const { ports, inserted } = counting(open());
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(0), anEndpoint(1)], plan);
    await publishToGroup(ports);

    const second = await publishToGroup(ports);

    expect(second.every(({ deduplicated }) => deduplicated)).toBe(true);
    expect(inserted).toHaveLength(1);
  });

  const idsOf = (published: readonly Published[]): readonly MessageId[] =>
    published.map(({ messageId }) => messageId);
  const areDuplicates = (published: readonly Published[]): readonly boolean[] =>
    published.map(({ deduplicated }) => deduplicated);

  async function openWithGroup(endpoints: number): Promise<ReturnType<typeof counting>> {
    const counted = counting(open());
    const all = Array.from({ length: endpoints }, (_, i) => anEndpoint(i));
    await addToGroup(counted.ports.groups, aTenant, "g", all, plan);
    return counted;
  }

  /** Returns ports in which a publish dies before or after its insert. An insert that was not made may be let go later. */
  function dying(ports: Ports, when: "before" | "after"): { ports: Ports; goOn: () => void } {
    const { promise: gone, resolve: goOn } = Promise.withResolvers<void>();
    const insert: FanOuts["insert"] = async (fanOut) => {
      if (when === "before") {
        await gone;
        return ports.fanOuts.insert(fanOut, "new");
      }
      await ports.fanOuts.insert(fanOut, "new");
      throw new StoreError("unavailable", "the answer was lost");
    };
    return { ports: { ...ports, fanOuts: { ...ports.fanOuts, insert } }, goOn };
  }

  async function repeat(ports: Ports): Promise<readonly Published[]> {
    const publishing = publishToGroup(ports);
    await ports.clock.advance(1_000);
    return publishing;
  }

  it("takes over a publish that died before its insert, also minutes later: both make the same children", async () => {
    const { ports, inserted } = await openWithGroup(3);
    const first = dying(ports, "before");
    const publishing = publishToGroup(first.ports);
    await ports.clock.advance(5 * 60_000);

    const second = await repeat(ports);
    first.goOn();
    const late = await publishing;

    expect(areDuplicates(second)).toEqual([false, false, false]);
    expect(idsOf(late)).toEqual(idsOf(second));
    expect(areDuplicates(late)).toEqual([true, true, true]);
    expect(new Set(inserted).size).toBe(1);
  });

  it("finds the children of one whose reply was lost, also minutes later, and makes no others", async () => {
    const { ports, inserted } = await openWithGroup(3);
    await expect(publishToGroup(dying(ports, "after").ports)).rejects.toThrow("lost");
    await ports.clock.advance(5 * 60_000);

    const second = await repeat(ports);
    const third = await publishToGroup(ports);

    expect(areDuplicates(second)).toEqual([true, true, true]);
    expect(idsOf(third)).toEqual(idsOf(second));
    expect(new Set(inserted).size).toBe(1);
  });

  it("gives endpoints that have joined since a parent of their own", async () => {
    const { ports, inserted } = await openWithGroup(2);
    await expect(publishToGroup(dying(ports, "after").ports)).rejects.toThrow("lost");
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(2)], plan);

    const second = await repeat(ports);

    expect(areDuplicates(second)).toEqual([true, true, false]);
    expect(new Set(inserted).size).toBe(2);
    const parents = idsOf(second).map((id) => parentOf(id)?.parent);
    expect(new Set(parents).size).toBe(2);
    const [own] = await ports.fanOuts.get(aTenant, [parents[2] ?? messageId("")]);
    expect(own?.skipped).toEqual([0, 1]);
  });

  it("answers with the children that were named when others have left the group since, if their parent is there", async () => {
    const { ports } = await openWithGroup(2);
    await expect(publishToGroup(dying(ports, "after").ports)).rejects.toThrow("lost");
    await removeFromGroup(ports.groups, aTenant, "g", [{ url: anEndpoint(0).url }]);

    const [second] = await repeat(ports);

    expect(second).toMatchObject({ url: anEndpoint(1).url, deduplicated: true });
    expect(second && parentOf(second.messageId)?.index).toBe(1);
  });

  it("has to be repeated when others have left the group since, and their parent is not there", async () => {
    const { ports, inserted } = await openWithGroup(2);
    void publish(dying(ports, "before").ports, toGroup());
    await rest(ports);
    await removeFromGroup(ports.groups, aTenant, "g", [{ url: anEndpoint(0).url }]);

    const publishing = publish(ports, toGroup());
    await ports.clock.advance(1_000);

    expect(await publishing).toMatchObject({ fault: "outcome_unknown" });
    expect(inserted).toEqual([]);
  });

  it("must be repeated if it was taken over without endpoints that have left the group since", async () => {
    const { ports } = await openWithGroup(2);
    const first = dying(ports, "before");
    const publishing = publish(first.ports, toGroup());
    await rest(ports);
    await removeFromGroup(ports.groups, aTenant, "g", [{ url: anEndpoint(1).url }]);

    const second = await repeat(ports);
    first.goOn();

    expect(areDuplicates(second)).toEqual([false]);
    expect(await publishing).toMatchObject({ fault: "outcome_unknown" });
  });

  it("is a different message from the same deduplication id to a URL or to another group", async () => {
    const ports = open();
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(0)], plan);
    await addToGroup(ports.groups, aTenant, "h", [anEndpoint(0)], plan);

    await publishOnce(ports);
    await publishToGroup(ports);
    const [other] = await publishToGroup(ports, {
      ...toGroup(),
      destination: { kind: "group", name: "h" },
    });

    expect(other?.deduplicated).toBe(false);
  });
});
