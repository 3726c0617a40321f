import { describe, expect, it } from "@jest/globals";
import { systemRandom } from "@posthaste/process";
import {
  developmentUsers,
  isPublicSecret,
  newSigningKey,
  newToken,
  userOf,
} from "./credentials.ts";

describe("a new token", () => {
  it("holds its user in the form that workflow clients read", () => {
    const token = newToken("me", systemRandom());

    expect(JSON.parse(Buffer.from(token, "base64").toString())).toEqual({
      UserID: "me",
      Password: expect.stringMatching(/^\w{32}$/),
    });
  });
});

describe("a new signing key", () => {
  it("has the form of its kind, and is never the same", () => {
    const random = systemRandom();

    expect(newSigningKey(random)).toMatch(/^sig_[0-9A-Za-z]{28}$/);
    expect(newSigningKey(random)).not.toBe(newSigningKey(random));
  });
});

describe("the development users", () => {
  it.each(developmentUsers)("$userId is the user inside its token", ({ userId, token, keys }) => {
    expect(userOf(token)?.userId).toBe(userId);
    for (const secret of [token, keys.current, keys.next])
      expect(isPublicSecret(secret)).toBe(true);
  });
});

describe("a token without a user", () => {
  it.each([
    "",
    "x".repeat(32),
    "bnVsbA==",
    "e30=",
    "MQ==",
    "eyJVc2VySUQiOiIiLCJQYXNzd29yZCI6ImEifQ==",
  ])("%j has none", (token) => {
    expect(userOf(token)).toBeUndefined();
  });
});
