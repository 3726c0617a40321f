import { expect, it } from "@jest/globals";
import { accept, type LiveFilter } from "@posthaste/domain";
import { aMessage, aPolicy, aTenant } from "@posthaste/testing";
import { newDirectory, openIn } from "../opened.fixture.ts";

const lookedMax = 500;

it("a walk by what few messages have looks at theirs alone, however many others wait", async () => {
  const { clock, ids, records } = openIn(newDirectory());
  const insert = async (count: number, labels: readonly string[] = []) => {
    const policy = aPolicy({ labels });
    const made = Array.from({ length: count }, () =>
      aMessage({ id: ids.next(), now: clock.now(), policy }),
    );
    await records.insert(made.map((message) => ({ record: accept(message, clock.now()) })));
    return made.map(({ id }) => id);
  };
  const rare = await insert(1, ["rare"]);
  await insert(2 * lookedMax);
  rare.push(...(await insert(1, ["rare"])));
  const upTo = { id: ids.next(), at: clock.now() };
  const walk = (filter: LiveFilter) =>
    records.matching(aTenant, filter, { upTo, foundMax: 10, lookedMax });

  expect(await walk({ labels: ["rare"] })).toEqual({ ids: rare });
  expect(await walk({ labels: ["rare"], urls: ["https://no.example/"] })).toEqual({ ids: [] });
  expect(await walk({ urls: ["https://no.example/"] })).toMatchObject({ next: expect.anything() });
});
