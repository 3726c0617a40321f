/** Rows with a rare term are found along an index of rows that have one, in the order of the list. */
import { describe, expect, it } from "@jest/globals";
import { type MessageFilter } from "@posthaste/domain";
import { aMessage, aPolicy, aTenant, newId } from "@posthaste/testing";
import { freshDatabase } from "../opened.fixture.ts";
import { servers } from "../servers.fixture.ts";
import { archivedConditions, conditionsOf, isByTerm, termIndexes } from "./conditions.ts";
import { type Placed, placeOf } from "./placed.ts";
import { pageCursor, readPage, type Scan } from "./read-page.ts";

type Item = { readonly message: object };

const labelled = { policy: aPolicy({ labels: ["rare"] }) };
const inLane = { policy: aPolicy({ flow: { key: "rare", limits: { periodMs: 1 } } }) };
const origin = (more: object) => ({ origin: { callerIp: "::1", hop: 1, ...more } });

const cases: readonly [MessageFilter, object, string][] = [
  [{ labels: ["rare", "none"] }, labelled, "policy.labels"],
  [{ flowControlKeys: ["rare"] }, inLane, "policy.flow.key"],
  [{ queueNames: ["rare"] }, origin({ queueName: "rare" }), "origin.queueName"],
  [{ scheduleIds: ["rare"] }, origin({ scheduleId: "rare" }), "origin.scheduleId"],
  [{ groups: ["rare"] }, origin({ group: { name: "rare" } }), "origin.group.name"],
];

const scanOf = (filter: MessageFilter): Scan<Item> => ({
  tenant: aTenant,
  filter,
  conditions: conditionsOf(archivedConditions, filter),
  isById: isByTerm(filter),
  bytesOf: () => 0,
  bodyFields: [],
  cut: (item) => item,
});
const request = { limit: 5, order: "latestFirst" } as const;

describe.each(servers)("$name: terms", ({ uri }) => {
  const open = freshDatabase(uri, [
    { collection: "rows", key: { tenant: 1, place: 1 }, is: "needed" },
    ...termIndexes("rows"),
  ]);

  it.each(cases)(`%j find their messages along their index`, async (filter, overrides, field) => {
    const { connection } = await open();
    const rows = connection.collection<Placed<Item>>("rows");
    const rowAt = (at: number, message: object) => ({
      _id: `${at}`,
      tenant: aTenant,
      place: placeOf(at, "x"),
      item: { message },
    });
    const plain = Array.from({ length: 300 }, (_, at) => rowAt(at, aMessage({ id: newId() })));
    const rare = [10, 290].map((n) => rowAt(1_000 + n, aMessage({ id: newId(), ...overrides })));
    await rows.insertMany([...plain, ...rare]);

    const page = await readPage(connection.heavy, rows, scanOf(filter), request, {
      rows: 10,
      bytes: 1_000,
      held: 1_000,
    });

    expect(page).toEqual({
      positions: rare.toReversed().map(({ place }) => place),
      items: rare.toReversed().map(({ item }) =>
        expect.objectContaining({
          message: expect.objectContaining({ id: (item.message as { id: string }).id }),
        }),
      ),
    });
    const plan = JSON.stringify(
      await pageCursor(rows, scanOf(filter), request).explain("queryPlanner"),
    );
    expect(plan).toContain(`"indexName":"tenant_1_item.message.${field}_1_place_1"`);
  });
});
