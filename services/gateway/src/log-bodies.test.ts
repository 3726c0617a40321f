import { describe, expect, it } from "@jest/globals";
import { accept, isFault } from "@posthaste/domain";
import { gatewayEndpoints, type LogQuery } from "@posthaste/contract";
import { openEmbedded } from "@posthaste/embedded";
import { aMessage, aTenant, recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { withBodies } from "./log-bodies.ts";

const mebibyte = 1024 * 1024;
const messages = 20;

async function opened(redacted: boolean) {
  const clock = virtualClock();
  const store = openEmbedded({
    dataDir: ":memory:",
    clock,
    random: seededRandom(1),
    log: recordingLog(),
  });
  for (let i = 0; i < messages; i++) {
    await clock.advance(1);
    const message = aMessage({
      body: Buffer.alloc(3 * mebibyte, i),
      ...(redacted && { redaction: { body: true, headers: [] } }),
    });
    await store.records.insert([{ record: accept(message, clock.now()) }], "new");
  }
  return { messageLog: store.log, records: store.records };
}

function queryOf(search: string): LogQuery {
  const query = gatewayEndpoints.listLogs.query.parse(search);
  if (isFault(query)) throw new Error(JSON.stringify(query));
  return query;
}

describe("a page of the log with the bodies of live messages", () => {
  it.each([
    ["events whose bodies are cut", "count=1000", false],
    ["events whose bodies are shown as hashes", "count=1000", true],
    ["messages with their events", "count=10&groupBy=messageId", true],
  ])("is short when its bytes are spent, and leaves none out: %s", async (_, search, redacted) => {
    const ports = await opened(redacted);
    const query = queryOf(search);
    const held: number[] = [];
    const seen = new Set<string>();
    let after: string | undefined;

    do {
      const { bodyBytesMax, limit, order } = query.page;
      const page = { bodyBytesMax, limit, order, ...(after !== undefined && { after }) };
      const got = await withBodies(ports, aTenant, query, page);
      for (const { message } of got.items) {
        seen.add(message.id);
        expect(got.bodies.get(message.id)?.length).toBeGreaterThan(0);
      }
      held.push([...got.bodies.values()].reduce((sum, body) => sum + body.length, 0));
      after = got.next;
    } while (after !== undefined);

    expect(seen.size).toBe(messages);
    expect(held.length).toBeGreaterThan(1);
    expect(Math.max(...held)).toBeLessThanOrEqual(redacted ? 20 * mebibyte : mebibyte);
  });
});
