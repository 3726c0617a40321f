import { describe, expect, it } from "@jest/globals";
import { type Message, type MessageFilter } from "@posthaste/domain";
import { aMessage, anotherTenant, aPolicy, aTenant, newId } from "@posthaste/testing";
import { DatabaseSync } from "node:sqlite";
import { migrate } from "./database/migrate.ts";
import { schema } from "./database/schema.ts";
import { openTermReading, openTerms } from "./terms.ts";

function opened() {
  const db = new DatabaseSync(":memory:");
  migrate(db, schema);
  const terms = openTerms(db);
  const positionsOf = openTermReading(db);
  let position = 0;
  return {
    terms,
    put: (overrides: Parameters<typeof aMessage>[0] = {}): number => {
      terms.put(++position, aMessage({ id: newId(), ...overrides }));
      return position;
    },
    found: (filter: MessageFilter, tenant = aTenant) =>
      positionsOf(tenant, filter)?.toSorted(byNumber),
  };
}

const byNumber = (a: number, b: number): number => a - b;
const labelled = (...labels: string[]) => ({ policy: aPolicy({ labels }) });
const origin = (more: Partial<Message["origin"]>) => ({
  origin: { callerIp: "::1", hop: 1, ...more },
});

describe("terms", () => {
  it("lead to the messages that have one of the values, of one tenant", () => {
    const { found, put } = opened();
    const [a, ab] = [put(labelled("a")), put(labelled("a", "b"))];
    put({ ...labelled("a"), tenant: anotherTenant });
    put(labelled("c"));

    expect(found({ labels: ["a"] })).toEqual([a, ab]);
    expect(found({ labels: ["b", "none"] })).toEqual([ab]);
    expect(found({ labels: ["none"] })).toEqual([]);
  });

  it.each([
    [
      { policy: aPolicy({ flow: { key: "k", limits: { periodMs: 1 } } }) },
      { flowControlKeys: ["k"] },
    ],
    [origin({ queueName: "q" }), { queueNames: ["q"] }],
    [origin({ scheduleId: "s" }), { scheduleIds: ["s"] }],
    [origin({ group: { name: "g" } }), { groups: ["g"] }],
  ])("are the keys, queues, schedules and groups as well: %j", (overrides, filter) => {
    const { found, put } = opened();
    put();
    const position = put(overrides);

    expect(found(filter)).toEqual([position]);
  });

  it("lead by the rarest of several, and by none that is not rare", () => {
    const { found, put } = opened();
    for (let n = 0; n < 1_001; n++) put(labelled("dense"));
    const rare = put({ ...labelled("dense"), ...origin({ queueName: "rare" }) });

    expect(found({ labels: ["dense"] })).toBeUndefined();
    expect(found({ labels: ["dense"], queueNames: ["rare"] })).toEqual([rare]);
    expect(found({ urls: ["http://a.example"] })).toBeUndefined();
  });

  it("are removed with the last row that refers to their message", () => {
    const { found, put, terms } = opened();
    const position = put(labelled("a"));

    terms.removeOrphans(JSON.stringify([position]));

    expect(found({ labels: ["a"] })).toEqual([]);
  });
});
