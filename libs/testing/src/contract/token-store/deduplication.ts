import { expect } from "@jest/globals";
import { limits } from "@posthaste/domain";
import { type DeduplicationEntry } from "@posthaste/ports";
import { aKey } from "../../builders/command.ts";
import { newId } from "../../builders/message.ts";
import { type TokenGuarantee } from "./harness.ts";

export function deduplication(it: TokenGuarantee): void {
  it("an unclaimed key goes to its first claimer", async ({ tokens }) => {
    expect(await tokens.claim([entry("a")])).toEqual([{ kind: "mine" }]);
  });

  it("a claimed key is pending for others, with the id it was claimed for", async ({ tokens }) => {
    const first = entry("a");
    await tokens.claim([first]);

    expect(await tokens.claim([entry("a")])).toEqual([{ kind: "pending", id: first.id }]);
  });

  it("a pending key may be claimed again for the same id, and both claims lead to one record", async ({
    tokens,
  }) => {
    const first = entry("a");
    await tokens.claim([first]);

    expect(await tokens.claim([first])).toEqual([{ kind: "mine" }]);
    expect(await tokens.claim([entry("a")])).toEqual([{ kind: "pending", id: first.id }]);
  });

  it("a confirmed key returns its id", async ({ tokens }) => {
    const first = entry("a");
    await tokens.claim([first]);
    await tokens.confirm([first]);

    expect(await tokens.claim([entry("a")])).toEqual([{ kind: "done", id: first.id }]);
    expect(await tokens.claim([first])).toEqual([{ kind: "done", id: first.id }]);
  });

  it("a key whose record does not exist is free for one claimer, however often that is claimed", async ({
    tokens,
  }) => {
    const [gone, next, last] = [entry("a"), entry("a"), entry("a")];
    await tokens.claim([gone]);
    await tokens.confirm([gone]);

    const instead = { ...next, instead: gone.id };
    expect(await tokens.claim([instead])).toEqual([{ kind: "mine" }]);
    expect(await tokens.claim([{ ...last, instead: gone.id }])).toEqual([
      { kind: "pending", id: next.id },
    ]);
    expect(await tokens.claim([last])).toEqual([{ kind: "pending", id: next.id }]);
    await tokens.confirm([next]);
    expect(await tokens.claim([{ ...last, instead: gone.id }])).toEqual([
      { kind: "done", id: next.id },
    ]);
    expect(await tokens.claim([last])).toEqual([{ kind: "done", id: next.id }]);
  });

  it("a confirmation of another id leaves a pending key unchanged", async ({ tokens }) => {
    const first = entry("a");
    await tokens.claim([first]);
    await tokens.confirm([entry("a")]);

    expect(await tokens.claim([entry("a")])).toEqual([{ kind: "pending", id: first.id }]);
  });

  it("a confirmation of another id leaves a confirmed key unchanged", async ({ tokens }) => {
    const first = entry("a");
    await tokens.claim([first]);
    await tokens.confirm([first]);
    await tokens.confirm([entry("a")]);

    expect(await tokens.claim([entry("a")])).toEqual([{ kind: "done", id: first.id }]);
  });

  it("a confirmation sets a key that has expired, since its record exists", async ({ tokens }) => {
    const first = entry("a");
    await tokens.confirm([first]);

    expect(await tokens.claim([entry("a")])).toEqual([{ kind: "done", id: first.id }]);
  });

  it("a second confirmation changes nothing", async ({ tokens }) => {
    const first = entry("a");
    await tokens.claim([first]);
    await Promise.all([tokens.confirm([first]), tokens.confirm([first])]);
    await tokens.confirm([first]);

    expect(await tokens.claim([entry("a")])).toEqual([{ kind: "done", id: first.id }]);
  });

  it("each key of a call has its own result, in order", async ({ tokens }) => {
    const [done, pending] = [entry("done"), entry("pending")];
    await tokens.claim([done, pending]);
    await tokens.confirm([done]);

    const answers = await tokens.claim([
      entry("new"),
      entry("pending"),
      entry("done"),
      entry("newer"),
    ]);

    expect(answers).toEqual([
      { kind: "mine" },
      { kind: "pending", id: pending.id },
      { kind: "done", id: done.id },
      { kind: "mine" },
    ]);
    expect(await tokens.claim([])).toEqual([]);
    await tokens.confirm([]);
  });

  it("10,000 keys are claimed and confirmed in one call each", async ({ tokens }) => {
    const entries = Array.from({ length: 10_000 }, (_, i) => entry(`endpoint ${i}`));

    const claimed = await tokens.claim(entries);
    await tokens.confirm(entries);
    const again = await tokens.claim(entries.map(({ key }) => ({ key, id: newId() })));

    expect(claimed.every(({ kind }) => kind === "mine")).toBe(true);
    expect(again).toEqual(entries.map(({ id }) => ({ kind: "done", id })));
  });

  it("of 50 publishers of one key exactly one gets it, and the others get its id", async ({
    tokens,
    other = tokens,
  }) => {
    const entries = Array.from({ length: 50 }, () => entry("a"));

    const answers = await Promise.all(
      entries.map((each, i) => (i % 2 === 0 ? tokens : other).claim([each])),
    );

    const winners = entries.filter((_, i) => answers[i]?.[0]?.kind === "mine");
    expect(winners).toHaveLength(1);
    const heard = answers.flat().flatMap((answer) => (answer.kind === "mine" ? [] : [answer]));
    expect(heard).toEqual(heard.map(() => ({ kind: "pending", id: winners[0]?.id })));
  });

  it(
    "an unconfirmed key is pending for the length of a window, and then free again",
    async ({ tokens, advance }) => {
      const first = entry("a");
      await tokens.claim([first]);
      await advance(pendingMs - marginMs);
      const before = await tokens.claim([entry("a")]);
      await advance(2 * marginMs);
      const after = await tokens.claim([entry("a")]);

      expect(before).toEqual([{ kind: "pending", id: first.id }]);
      expect(after).toEqual([{ kind: "mine" }]);
    },
    pendingMs + marginMs,
  );

  it(
    "a take-over starts the pending time of the key again",
    async ({ tokens, advance }) => {
      const first = entry("a");
      await tokens.claim([first]);
      await advance(pendingMs / 2);
      await tokens.claim([first]);
      await advance(pendingMs / 2 + marginMs);

      expect(await tokens.claim([entry("a")])).toEqual([{ kind: "pending", id: first.id }]);
    },
    pendingMs + marginMs,
  );

  it(
    "a window lasts ten minutes from its confirmation",
    async ({ tokens, advance }) => {
      const first = entry("a");
      await tokens.claim([first]);
      await advance(marginMs);
      await tokens.confirm([first]);
      await advance(limits.deduplicationMs - marginMs);
      const before = await tokens.claim([entry("a")]);
      await advance(2 * marginMs);
      const after = await tokens.claim([entry("a")]);

      expect(before).toEqual([{ kind: "done", id: first.id }]);
      expect(after).toEqual([{ kind: "mine" }]);
    },
    limits.deduplicationMs + 2 * marginMs,
  );
}

const pendingMs = limits.deduplicationPendingMsMax;
/** Clocks of stores need not count single milliseconds, and clocks that cannot be moved run on during other proofs. */
const marginMs = 5_000;

const entry = (deduplicationId: string): DeduplicationEntry => ({
  key: aKey(deduplicationId),
  id: newId(),
});
