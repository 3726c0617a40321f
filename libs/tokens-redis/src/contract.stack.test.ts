/** The port against its contract, and what this adapter adds to it, on the Redis of `npm run stack -- stores`. */
import { describe, expect, it } from "@jest/globals";
import { systemRandom } from "@posthaste/process";
import { aKey, newId, testStores } from "@posthaste/testing";
import { describeTokenStore, type TokenStoreHarness } from "@posthaste/testing/contract";
import { clock, openTokens, untilUp, wait } from "./opened.fixture.ts";

const { redis } = testStores();
if (!redis) throw new Error("these suites need a Redis");
const { name, url } = redis;

/** Its clock is the host's: it is waited for, and nothing longer than a lease or a pending key. */
const waitMsMax = 40_000;

async function open(): Promise<TokenStoreHarness> {
  const prefix = `test-${systemRandom().text(12)}:`;
  const [tokens, other] = [openTokens(url, { prefix }), openTokens(url, { prefix })];
  await Promise.all([untilUp(tokens), untilUp(other)]);
  return {
    tokens,
    other,
    now: () => clock.now(),
    advance: wait,
    close: async () => {
      await Promise.all([tokens.close(), other.close()]);
    },
  };
}

describeTokenStore(name, open, [], waitMsMax);

describe(`${name}: calls of one turn`, () => {
  it("go out together: one script call for each kind, and each caller hears its own answer", async () => {
    const tokens = openTokens(url);
    await untilUp(tokens);
    const entries = Array.from({ length: 50 }, (_, i) => ({ key: aKey(`${i}`), id: newId() }));
    await tokens.claim(entries.slice(0, 10));
    await tokens.confirm(entries.slice(0, 5));
    const before = tokens.counts().calls;

    const answers = await Promise.all(
      entries.map(({ key }) => tokens.claim([{ key, id: newId() }])),
    );

    expect(tokens.counts().calls - before).toBe(1);
    expect(answers.flat().map((answer) => ("id" in answer ? answer.id : answer.kind))).toEqual(
      entries.map(({ id }, i) => (i < 10 ? id : "mine")),
    );
    await tokens.close();
  });
});
