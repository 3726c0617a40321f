import { describe, expect, it } from "@jest/globals";
import { accept, isFault, limits } from "@posthaste/domain";
import { gatewayEndpoints, type LogQuery } from "@posthaste/contract";
import { openEmbedded } from "@posthaste/embedded";
import { aMessage, aTenant } from "@posthaste/testing";
import { openInMemory } from "@posthaste/testing/in-memory";
import { fitPage } from "./fit-page.ts";
import { createLogShower } from "./log-bodies.ts";
import { logPage } from "./log-page.ts";
import { readsOf } from "./reads.fixture.ts";

const mebibyte = 1024 * 1024;
const messages = 20;

async function opened(redacted: boolean) {
  const { clock, store } = openInMemory(openEmbedded);
  for (let i = 0; i < messages; i++) {
    await clock.advance(1);
    const message = aMessage({
      body: Buffer.alloc(3 * mebibyte, i),
      ...(redacted && { redaction: { body: true, headers: [] } }),
    });
    await store.records.insert([{ record: accept(message, clock.now()) }], "new");
  }
  return { messageLog: store.messageLog, records: store.records };
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
    const { messageLog, records } = await opened(redacted);
    const query = queryOf(search);
    const pages: number[] = [];
    const seen: string[] = [];
    let after: string | undefined;
    let bytesRead = 0;
    const reads = readsOf({
      messageLog,
      records: {
        ...records,
        getSome: async (...asked) => {
          const some = await records.getSome(...asked);
          for (const { message } of some.records) bytesRead += message.body.length;
          return some;
        },
      },
    });

    do {
      const { bodyBytesMax, limit, order } = query.page;
      const page = { bodyBytesMax, limit, order, ...(after !== undefined && { after }) };
      bytesRead = 0;
      const found = await logPage(reads.log, aTenant, query, page);
      const view = { sha256: () => "hash", positionAt: () => 0, bodyBytesMax };
      const { show, isSpent } = createLogShower(reads, aTenant, view);
      const { shown, next } = await fitPage(found, (some) => Promise.all(some.map(show)), {
        isSpent,
      });
      for (const { body, messageId } of shown.flat()) {
        seen.push(messageId);
        expect(body?.length).toBeGreaterThan(0);
      }
      pages.push(bytesRead);
      after = next;
    } while (after !== undefined);

    expect(seen).toHaveLength(messages);
    expect(new Set(seen).size).toBe(messages);
    expect(pages.length).toBeGreaterThan(1);
    expect(Math.max(...pages)).toBeLessThanOrEqual(limits.readBytesMax + 5 * 3 * mebibyte);
  });
});
