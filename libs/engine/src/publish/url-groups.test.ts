import { describe, expect, it } from "@jest/globals";
import { defaultPlan, type Endpoint } from "@posthaste/domain";
import { type Groups } from "@posthaste/ports";
import { anEndpoint, aTenant, someEndpoints } from "@posthaste/testing";
import { open } from "../opened.fixture.ts";
import { addToGroup, removeFromGroup } from "./url-groups.ts";

const name = "g";

async function endpointsOf(groups: Groups): Promise<readonly Endpoint[] | undefined> {
  const group = await groups.get(aTenant, name);
  return group && groups.endpoints(aTenant, group.chunks);
}

/** Runs `then` once, right after the endpoints were read. */
function withAfterRead(groups: Groups, then: () => Promise<unknown>): Groups {
  let isFirst = true;
  return {
    ...groups,
    endpoints: async (tenant, chunks) => {
      const endpoints = await groups.endpoints(tenant, chunks);
      if (isFirst) {
        isFirst = false;
        await then();
      }
      return endpoints;
    },
  };
}

describe("changing a URL group", () => {
  it("makes the group with its first endpoints and adds others behind them", async () => {
    const { groups } = open();

    await addToGroup(groups, aTenant, name, [anEndpoint(1)], defaultPlan);
    await addToGroup(groups, aTenant, name, [anEndpoint(0)], defaultPlan);

    expect(await endpointsOf(groups)).toEqual([anEndpoint(1), anEndpoint(0)]);
  });

  it("loses no endpoint when many are added at once", async () => {
    const { groups } = open();
    const added = someEndpoints(15);

    const answers = await Promise.all(
      added.map((endpoint) => addToGroup(groups, aTenant, name, [endpoint], defaultPlan)),
    );

    expect(answers).toEqual(added.map(() => undefined));
    expect(new Set((await endpointsOf(groups))?.map(({ url }) => url))).toEqual(
      new Set(added.map(({ url }) => url)),
    );
  });

  it("loses no endpoint that is added while the last of the others is removed", async () => {
    const { groups } = open();
    await addToGroup(groups, aTenant, name, [anEndpoint(0)], defaultPlan);
    const racing = withAfterRead(groups, () =>
      addToGroup(groups, aTenant, name, [anEndpoint(1)], defaultPlan),
    );

    await removeFromGroup(racing, aTenant, name, [{ url: anEndpoint(0).url }]);

    expect(await endpointsOf(groups)).toEqual([anEndpoint(1)]);
  });

  it("deletes a group that becomes empty", async () => {
    const { groups } = open();
    await addToGroup(groups, aTenant, name, someEndpoints(2), defaultPlan);

    await removeFromGroup(
      groups,
      aTenant,
      name,
      someEndpoints(2).map(({ url }) => ({ url })),
    );

    expect(await groups.get(aTenant, name)).toBeUndefined();
    expect(await groups.count(aTenant, 1)).toBe(0);
  });

  it("can make a group again that was deleted by becoming empty", async () => {
    const { groups } = open();
    await addToGroup(groups, aTenant, name, [anEndpoint(0)], defaultPlan);
    await removeFromGroup(groups, aTenant, name, [{ url: anEndpoint(0).url }]);

    await addToGroup(groups, aTenant, name, [anEndpoint(1)], defaultPlan);

    expect(await endpointsOf(groups)).toEqual([anEndpoint(1)]);
  });

  it("refuses more endpoints than the plan allows, and leaves the group unchanged", async () => {
    const { groups } = open();
    const plan = { ...defaultPlan, groupEndpointsMax: 2 };
    await addToGroup(groups, aTenant, name, someEndpoints(2), plan);

    expect(await addToGroup(groups, aTenant, name, [anEndpoint(2)], plan)).toMatchObject({
      fault: "beyond_plan",
    });
    expect(await addToGroup(groups, aTenant, name, [anEndpoint(1)], plan)).toBeUndefined();
    expect(await endpointsOf(groups)).toEqual(someEndpoints(2));
  });

  it("refuses one group more than the plan allows, and still changes existing ones", async () => {
    const { groups } = open();
    const plan = { ...defaultPlan, groupsMax: 2 };
    await addToGroup(groups, aTenant, name, [anEndpoint(0)], plan);
    await addToGroup(groups, aTenant, "other", [anEndpoint(0)], plan);

    expect(await addToGroup(groups, aTenant, "third", [anEndpoint(0)], plan)).toEqual({
      fault: "beyond_plan",
      text: "quota maxTopics exceeded, current limit: 2",
    });
    expect(await addToGroup(groups, aTenant, name, [anEndpoint(1)], plan)).toBeUndefined();
    expect(await groups.get(aTenant, "third")).toBeUndefined();
  });

  it("finds nothing to remove from in a group that is not there", async () => {
    const { groups } = open();

    expect(
      await removeFromGroup(groups, aTenant, name, [{ url: "https://a.example" }]),
    ).toMatchObject({ fault: "not_found" });
  });

  it("gives up when other changes are faster twenty times in a row", async () => {
    const { groups } = open();
    let tries = 0;
    const busy: Groups = {
      ...groups,
      replace: async () => {
        tries += 1;
        return false;
      },
    };

    const answer = await addToGroup(busy, aTenant, name, [anEndpoint()], defaultPlan);

    expect(answer).toMatchObject({ fault: "overloaded" });
    expect(tries).toBe(20);
  });
});
