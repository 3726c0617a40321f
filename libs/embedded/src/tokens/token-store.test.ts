import { describe, expect, it } from "@jest/globals";
import { accept, type DeduplicationKey, deduplicationKeys, limits } from "@posthaste/domain";
import { aCommand, aMessage } from "@posthaste/testing";
import { countRows, newDirectory, openIn } from "../opened.fixture.ts";

const aKey = (id = "order-1"): DeduplicationKey => {
  const [key] = deduplicationKeys(
    aCommand({ deduplication: { kind: "explicit", id } }),
    [],
    String,
  );
  if (key === undefined) throw new Error("a publish with an explicit id has a key");
  return key;
};

describe("a deduplicated publish", () => {
  it("costs one commit: its insert closes the window, and confirming finds that done", async () => {
    const { tokens, records, clock, commits } = openIn(newDirectory());
    const message = aMessage();
    const entry = { key: aKey(), id: message.id };

    await tokens.claim([entry]);
    await records.insert([{ record: accept(message, clock.now()), deduplication: [entry] }], "new");
    await tokens.confirm([entry]);

    expect(commits()).toBe(1);
    expect(await tokens.claim([{ ...entry, id: aMessage().id }])).toEqual([
      { kind: "done", id: message.id },
    ]);
  });

  it("leaves no row behind when its window is over and swept", async () => {
    const { tokens, records, clock, dataDir } = openIn(newDirectory());
    const entry = { key: aKey(), id: aMessage().id };
    await tokens.claim([entry]);
    await tokens.confirm([entry]);
    expect(countRows(dataDir, "windows")).toBe(1);

    await clock.advance(limits.deduplicationMs);
    await records.removeFinished([0], clock.now(), 10);

    expect(countRows(dataDir, "windows")).toBe(0);
  });

  it("leaves none behind however many are over, swept in portions with turns for others", async () => {
    const { tokens, records, clock, dataDir, commits } = openIn(newDirectory());
    const entries = Array.from({ length: 1_600 }, (_, n) => ({
      key: aKey(`order-${n}`),
      id: aMessage().id,
    }));
    await tokens.claim(entries);
    await tokens.confirm(entries);
    expect(countRows(dataDir, "windows")).toBe(1_600);
    const commitsBefore = commits();

    await clock.advance(limits.deduplicationMs);
    await records.removeFinished([0], clock.now(), 10);

    expect(countRows(dataDir, "windows")).toBe(0);
    expect(commits() - commitsBefore).toBeGreaterThanOrEqual(4);
  });
});
