import { describe, expect, it } from "@jest/globals";
import { type Group } from "@posthaste/domain";
import { type Groups } from "@posthaste/ports";
import { anEndpoint, aTenant, newId, someEndpoints } from "@posthaste/testing";
import { describeGroups } from "@posthaste/testing/contract";
import { type Connection } from "../connection.ts";
import { createReferred } from "../fan-outs/fan-outs.ts";
import { createRecordPorts, recordIndexes, storeOf } from "../messages/record-ports.ts";
import { freshDatabase, type Opened, readsNoWholeCollection } from "../opened.fixture.ts";
import { ways } from "../repeated.fixture.ts";
import { createChunks } from "./chunks.ts";
import { createGroups, groupIndexes } from "./groups.ts";
import { servers } from "../servers.fixture.ts";

const groupsOf = (connection: Connection): Groups =>
  createGroups(connection, createReferred(storeOf(connection)));

const harnessOf = ({ clock }: Opened, connection: Connection) => ({
  groups: groupsOf(connection),
  ...createRecordPorts(connection, connection),
  ids: { next: newId },
  now: () => clock.now(),
  advance: (ms: number) => clock.advance(ms),
  close: () => Promise.resolve(),
});

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, [...groupIndexes, ...recordIndexes]);

  for (const [how, through] of ways)
    describeGroups(`${name}${how}`, async () => {
      const opened = await open();
      return harnessOf(opened, through(opened.connection));
    });

  readsNoWholeCollection("groups", open);

  describe("the chunks of groups", () => {
    const chunkCount = ({ connection }: Opened): Promise<number> =>
      connection.collection("group_chunks").countDocuments();

    it("that slower writers have made are removed, and those of the fastest stay", async () => {
      const opened = await open();
      const groups = groupsOf(opened.connection);
      await Promise.all(
        Array.from({ length: 10 }, () =>
          groups.replace(aTenant, "g", undefined, someEndpoints(1_100), "new"),
        ),
      );

      await opened.clock.advance(anHourMs);
      await groups.sweep(100);

      expect(await chunkCount(opened)).toBe(3);
      expect(await endpointsOf(groups)).toEqual(someEndpoints(1_100));
    });

    it("that no head came to list, since their writer was killed, go after a day", async () => {
      const opened = await open();
      const groups = groupsOf(opened.connection);
      const tomorrow = opened.clock.now() + aDayMs;
      await createChunks(opened.connection).write(aTenant, someEndpoints(2), tomorrow);

      await opened.clock.advance(aDayMs - 1);
      const early = await groups.sweep(100);
      await opened.clock.advance(1);
      const late = await groups.sweep(100);

      expect([early, late, await chunkCount(opened)]).toEqual([0, 1, 0]);
    });

    it("that a head lists are looked at day by day and stay", async () => {
      const opened = await open();
      const groups = groupsOf(opened.connection);
      await groups.replace(aTenant, "g", undefined, someEndpoints(1_100), "new");

      const swept: number[] = [];
      for (let day = 0; day < 3; day++) {
        await opened.clock.advance(aDayMs + 1);
        swept.push(await groups.sweep(2));
      }

      expect(swept).toEqual([0, 0, 0]);
      expect(await endpointsOf(groups)).toEqual(someEndpoints(1_100));
    });

    it("that are replaced while a sweep has just found them listed are looked at by the replacement's time", async () => {
      const { connection, clock } = await open();
      const chunks = createChunks(connection);
      const now = clock.now();
      const ids = await chunks.write(aTenant, someEndpoints(2), now);

      await chunks.lookAt(now + tenMinutesMs, ids);
      await chunks.postpone(ids, now, now + aDayMs);

      expect(await chunks.due(now + tenMinutesMs, 100)).toEqual(ids);
    });

    it("of a replaced version stay for ten minutes, for publishes that have just read it, though a day old", async () => {
      const opened = await open();
      const groups = groupsOf(opened.connection);
      await groups.replace(aTenant, "g", undefined, someEndpoints(2), "new");
      const old = await read(groups);
      await opened.clock.advance(aDayMs + 1);
      await groups.replace(aTenant, "g", old.version, [anEndpoint(0)], "new");

      await opened.clock.advance(tenMinutesMs - 1);
      const early = await groups.sweep(100);
      const kept = await groups.endpoints(aTenant, old.chunks);
      await opened.clock.advance(1);
      const late = await groups.sweep(100);

      expect([early, kept, late]).toEqual([0, someEndpoints(2), 1]);
    });
  });
});

const tenMinutesMs = 600_000;
const anHourMs = 3_600_000;
const aDayMs = 86_400_000;

async function read(groups: Groups): Promise<Group> {
  const group = await groups.get(aTenant, "g");
  if (!group) throw new Error("there is no group g");
  return group;
}

const endpointsOf = async (groups: Groups) =>
  groups.endpoints(aTenant, (await read(groups)).chunks);
