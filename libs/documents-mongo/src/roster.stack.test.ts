import { afterAll, describe, expect, it, jest } from "@jest/globals";
import { limits, type Owner, owner } from "@posthaste/domain";
import { type RosterEntry } from "@posthaste/ports";
import { describeRoster } from "@posthaste/testing/contract";
import { type Connection } from "./connection.ts";
import { freshDatabase, type Opened } from "./opened.fixture.ts";
import { createRoster, rosterIndexes } from "./roster.ts";
import { servers } from "./servers.fixture.ts";

jest.setTimeout(60_000);

const anEntry = (by: Owner): RosterEntry => ({
  ...{ owner: by, partitions: [1], isOpen: true, isBusy: false, format: 1 },
});
const late = limits.rosterFreshMs + 1;

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, rosterIndexes);
  let opened: Opened | undefined;
  const openOne = async (): Promise<Opened> => (opened = await open());
  const shifted = ({ connection, clock }: Opened, ms: number): Connection => ({
    ...connection,
    clock: { ...clock, now: () => clock.now() + ms },
  });

  describeRoster(name, async () => {
    const { connection, clock } = await openOne();
    return {
      roster: createRoster(connection),
      advance: (ms) => clock.advance(ms),
      close: () => Promise.resolve(),
    };
  });

  it("lists no deliverer whose clock is far ahead, which would stay listed long after its end", async () => {
    const of = await openOne();
    const roster = createRoster(of.connection);
    await createRoster(shifted(of, late)).announce(anEntry(owner("ahead")));
    await createRoster(shifted(of, limits.rosterEveryMs)).announce(anEntry(owner("near")));

    expect((await roster.read()).map((entry) => entry.owner)).toEqual(["near"]);
  });

  it("drops deliverers that were killed, however often one starts and dies", async () => {
    const of = await openOne();
    for (let n = 0; n < 20; n++) {
      await createRoster(of.connection).announce(anEntry(owner(`killed ${n}`)));
      await of.clock.advance(30_000);
    }

    const left = of.connection.collection("roster").find({ at: { $gt: 0 } });
    expect((await left.toArray()).length).toBeLessThan(4);
  });

  it("is read by queries that use an index", () => {
    expect(opened?.queries.unserved()).toEqual([]);
    expect(opened?.queries.count()).toBeGreaterThanOrEqual(4);
  });

  afterAll(() => (opened = undefined));
});
