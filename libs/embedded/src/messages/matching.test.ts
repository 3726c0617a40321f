import { expect, it } from "@jest/globals";
import { accept, type LiveFilter, positionOf } from "@posthaste/domain";
import { aMessage, aPolicy, aTenant } from "@posthaste/testing";
import { newDirectory, openIn } from "../opened.fixture.ts";
import { turnsOf } from "../turns.fixture.ts";

const lookedMax = 500;
const rowsPerTurnMax = 500;

it.each<[string, LiveFilter]>([
  ["a URL", { urls: ["https://no.example/"] }],
  ["a host", { hosts: ["no.example"] }],
  ["a path", { paths: ["/no"] }],
  ["an address of the caller", { callerIps: ["192.0.2.1"] }],
  ["a time", { from: 0, to: 1 }],
])(
  "a walk by %s reads 500 rows in a turn, and ends where it may look no further",
  async (_, filter) => {
    const { clock, ids, records } = openIn(newDirectory());
    const made = Array.from({ length: 4 * rowsPerTurnMax }, () =>
      aMessage({ id: ids.next(), now: clock.now() }),
    );
    await records.insert(
      made.map((message) => ({ record: accept(message, clock.now()) })),
      "new",
    );
    const upTo = { id: ids.next(), at: clock.now() };
    const walk = { upTo, foundMax: 10, lookedMax: 3 * rowsPerTurnMax };

    const { turns, value } = await turnsOf(() => records.matching(aTenant, filter, walk));

    expect(turns).toBeGreaterThanOrEqual(3);
    const last = made.at(walk.lookedMax - 1);
    expect(value).toEqual({ ids: [], next: String(last && positionOf(last.id)) });
  },
);

it("a walk by a rare value reads only the messages that have it, however many others wait", async () => {
  const { clock, ids, records } = openIn(newDirectory());
  const insert = async (count: number, labels: readonly string[] = []) => {
    const policy = aPolicy({ labels });
    const made = Array.from({ length: count }, () =>
      aMessage({ id: ids.next(), now: clock.now(), policy }),
    );
    await records.insert(
      made.map((message) => ({ record: accept(message, clock.now()) })),
      "new",
    );
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
