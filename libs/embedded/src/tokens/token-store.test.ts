import { describe, expect, it } from "@jest/globals";
import { accept, type DeduplicationKey, deduplicationKeys, limits } from "@posthaste/domain";
import { aCommand, aMessage } from "@posthaste/testing";
import { countRows, newDirectory, openIn } from "../opened.fixture.ts";

const aKey = (): DeduplicationKey => {
  const [key] = deduplicationKeys(
    aCommand({ deduplication: { kind: "explicit", id: "order-1" } }),
    [],
    String,
  );
  if (key === undefined) throw new Error("a publish with an explicit id has a key");
  return key;
};

describe("a deduplicated publish", () => {
  it("costs one commit: its insert closes the window, and confirming finds that done", async () => {
    const { tokens, messages, clock, commits } = openIn(newDirectory());
    const message = aMessage();
    const entry = { key: aKey(), id: message.id };

    await tokens.claim([entry]);
    await messages.insert([{ record: accept(message, clock.now()), deduplication: [entry] }]);
    await tokens.confirm([entry]);

    expect(commits()).toBe(1);
    expect(await tokens.claim([{ ...entry, id: aMessage().id }])).toEqual([
      { kind: "done", id: message.id },
    ]);
  });

  it("leaves no row behind when its window is over and swept", async () => {
    const { tokens, messages, clock, dataDir } = openIn(newDirectory());
    const entry = { key: aKey(), id: aMessage().id };
    await tokens.claim([entry]);
    await tokens.confirm([entry]);
    expect(countRows(dataDir, "windows")).toBe(1);

    await clock.advance(limits.deduplicationMs);
    await messages.removeFinished([0], clock.now(), 10);

    expect(countRows(dataDir, "windows")).toBe(0);
  });
});
