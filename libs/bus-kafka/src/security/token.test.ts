import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { keptToken, type Token } from "./token.ts";

/** Returns an issuer that gives the next answer, or fails with it. */
function issuer(...answers: readonly (Token | Error)[]) {
  const clock = virtualClock();
  let asked = 0;
  const source = keptToken(async () => {
    const answer = answers[Math.min(asked++, answers.length - 1)];
    if (answer && "value" in answer) return answer;
    throw answer ?? new Error("not asked");
  }, clock);
  return { clock, source, asked: () => asked };
}

const hour = 3_600_000;
const token = (value: string, lifeMs = hour): Token => ({ value, lifeMs });
const away = new Error("the issuer is away");

describe("a token", () => {
  it("is requested once for all connections, and again a minute before it ends", async () => {
    const { clock, source, asked } = issuer(token("a"), token("b"));

    const first = await Promise.all([source.show(), source.show()]);
    await clock.advance(hour - 60_001);
    const late = await source.show();
    const askedBefore = asked();
    await clock.advance(1);

    expect([...first, late, askedBefore]).toEqual(["a", "a", "a", 1]);
    expect([await source.show(), asked()]).toEqual(["b", 2]);
  });

  it("with a short life is replaced after half of it", async () => {
    const { clock, source } = issuer(token("a", 8_000), token("b"));

    await source.show();
    await clock.advance(3_999);
    const before = await source.show();
    await clock.advance(1);

    expect([before, await source.show()]).toEqual(["a", "b"]);
  });

  it("is used until its end while the issuer is away, which is asked at growing intervals", async () => {
    const { clock, source, asked } = issuer(token("a", 120_000), away);

    await source.show();
    await clock.advance(60_000);
    for (let seconds = 0; seconds < 59; seconds++) {
      expect(await source.show()).toBe("a");
      await clock.advance(1_000);
    }
    const whileAway = asked() - 1;
    await clock.advance(1_000);

    expect(whileAway).toBe(6);
    await expect(source.show()).rejects.toThrow("no token for the brokers: the issuer is away");
  });

  it("that a broker refuses is not used again, and another is requested after five seconds", async () => {
    const { clock, source, asked } = issuer(token("a"), token("b"));

    source.refused(await source.show(), new Error("invalid_token"));
    const meanwhile = source.show();

    await expect(meanwhile).rejects.toThrow("invalid_token");
    await clock.advance(5_000);
    source.refused("a", new Error("late"));
    expect([await source.show(), asked()]).toEqual(["b", 2]);
  });

  it("that has expired when it arrives is not used", async () => {
    const { source } = issuer(token("a", 0));

    await expect(source.show()).rejects.toThrow("has already expired");
  });
});
