import { expect, it } from "@jest/globals";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { accept, allShards, childOf, positionOf, shardOf } from "@posthaste/domain";
import { aMessage, anEndpoint, anOwner, aTenant, byKind, newId } from "@posthaste/testing";
import { migrate } from "./database/migrate.ts";
import { migrations } from "./database/schema.ts";
import { newDirectory, openIn } from "./opened.fixture.ts";

/** The first version in which fan-outs have a table of their own. */
const version = migrations.findIndex((step) => step.includes("CREATE TABLE fan_outs"));

it("a group publish that an earlier version was expanding goes on, with its body and its children", async () => {
  const dataDir = newDirectory();
  const { id, createdAt, body, ...rest } = aMessage({ id: newId(), url: "" });
  const fanOut = { group: "g", chunks: [], endpointCount: 700, skipped: [3] };
  const json = JSON.stringify({ ...rest, id, createdAt, fanOut });
  const db = new DatabaseSync(join(dataDir, "posthaste.db"));
  migrate(db, migrations.slice(0, version));
  db.prepare("INSERT INTO tenants (key, id) VALUES (1, ?)").run(aTenant);
  const put = db.prepare(`
    INSERT INTO messages (position, name, tenant, shard, origin, state, until, hints, wake_at, epoch, retried, lease_losses,
      deferrals, outbox, children) VALUES (?, ?, 1, ?, 0, 4, 500, 0, ?, 0, 0, 0, 0, 0, 1)`);
  const position = positionOf(id) ?? Number.NaN;
  put.run(position, id.slice(-17), shardOf(id), createdAt);
  db.prepare("INSERT INTO configurations VALUES (?, ?, ?)").run(position, crc32(json), json);
  db.prepare("INSERT INTO bodies VALUES (?, ?, ?)").run(position, crc32(body), body);
  db.close();

  const opened = openIn(dataDir);

  const [found] = await opened.fanOuts.get(aTenant, [id]);
  expect(found).toMatchObject({ ...fanOut, body, state: { kind: "expanding", upTo: 500 } });
  const { fanOuts } = byKind(await opened.alarms.ring(allShards, 10));
  expect(fanOuts).toEqual([{ id, tenant: aTenant }]);
  if (!found) throw new Error("unreachable");
  const child = childOf(found, anEndpoint(600), 600);
  await opened.records.insert([{ record: accept(child, opened.clock.now()) }], "new");
  const [claimed] = await opened.records.claim([child.id], anOwner);
  expect(claimed?.message).toMatchObject({ url: anEndpoint(600).url, body });
});
