import { beforeEach, describe, expect, it } from "@jest/globals";
import { type VirtualClock, virtualClock } from "@posthaste/testing";
import { type CheckOperator, createOperatorCheck } from "./basic.ts";

const credentials = {
  user: "opérateur",
  password: "pass:word with ü",
  role: "admin",
} as const;
const viewer = { user: "viewer", password: "another password", role: "viewer" } as const;
const encoded = (text: string): string => Buffer.from(text).toString("base64");
const basic = (user: string, password: string): string => `Basic ${encoded(`${user}:${password}`)}`;
const right = basic(credentials.user, credentials.password);

let clock: VirtualClock;
let check: CheckOperator;
let networks = 0;
const network = (): string => `10.0.${networks++}.1`;

beforeEach(() => {
  clock = virtualClock();
  check = createOperatorCheck([credentials, viewer], clock);
});

const unauthorized = { fault: "unauthorized", text: "user and password are missing or wrong" };

describe("the operator", () => {
  it("is a caller with the user and the password, colons included, in any case of the scheme", () => {
    expect(check(right, network())).toBe(credentials);
    expect(check(right.replace("Basic", "bASIC"), network())).toBe(credentials);
  });

  it("is the one whose user and password come together, and no other", () => {
    expect(check(basic(viewer.user, viewer.password), network())).toBe(viewer);
    expect(check(basic(viewer.user, credentials.password), network())).toEqual(unauthorized);
    expect(check(basic(credentials.user, viewer.password), network())).toEqual(unauthorized);
  });

  it.each([
    ["nothing", undefined],
    ["an empty header", ""],
    ["the scheme alone", "Basic"],
    ["the scheme and a space", "Basic "],
    ["two spaces", right.replace(" ", "  ")],
    ["a space behind", `${right} `],
    ["another scheme", right.replace("Basic", "Bearer")],
    ["no scheme", encoded("opérateur:pass:word with ü")],
    ["user and password as they are", "Basic opérateur:pass:word with ü"],
    ["the user without a password", basic(credentials.user, "")],
    ["the password without a user", basic("", credentials.password)],
    ["a colon and nothing else", "Basic Og=="],
    ["no colon", `Basic ${encoded("opérateur")}`],
    ["another user", basic("operateur", credentials.password)],
    ["another password", basic(credentials.user, "pass:word with u")],
    ["a beginning of the password", basic(credentials.user, "pass")],
    ["more than the password", basic(credentials.user, `${credentials.password}x`)],
    ["the two in turn", basic(credentials.password, credentials.user)],
    ["padding left out", right.replace(/=+$/, "")],
    ["the alphabet for URLs", `Basic ${Buffer.from("a:\u00ff\u00fe").toString("base64url")}`],
    ["bytes that are no UTF-8", `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString("base64")}`],
    ["a NUL", basic(`${credentials.user}\0`, credentials.password)],
    ["8 KiB", `Basic ${"A".repeat(8_192)}`],
    ["both in one header", `${right}, ${right}`],
  ])("is not recognized by %s, and the answer says nothing more", (_, authorization) => {
    expect(check(authorization, network())).toEqual(unauthorized);
  });
});

describe("a network that has failed ten times in a minute", () => {
  const from = "192.0.2.7";
  const fail = (times: number) => {
    for (let i = 0; i < times; i++) check(basic("operator", `guess ${i}`), from);
  };

  it("is refused until the time is over, except with the right password", async () => {
    fail(10);
    expect(check(right, from)).toBe(credentials);
    fail(1);

    expect(check(basic("operator", "guess"), from)).toEqual({
      fault: "too_many_requests",
      text: "too many requests without the right user and password",
      retryAfterSeconds: 1,
    });
    await clock.advance(100);
    expect(check(basic("operator", "guess"), "192.0.2.200")).toMatchObject({
      fault: "too_many_requests",
    });
    await clock.advance(900);
    expect(check(right, from)).toBe(credentials);
    fail(5);
    expect(check(right, from)).toBe(credentials);
  });

  it("has twenty guesses a second looked at, and the next not", async () => {
    fail(11 + 19);
    expect(check(right, from)).toBe(credentials);
    fail(100);

    expect(check(right, from)).toMatchObject({ fault: "too_many_requests" });
    await clock.advance(1_000);
    fail(19);
    expect(check(right, from)).toBe(credentials);
  });

  it("does not count requests without credentials as failures", () => {
    for (let i = 0; i < 1_000; i++) expect(check(undefined, from)).toEqual(unauthorized);
    fail(10);

    expect(check(basic("operator", "guess"), from)).toMatchObject({ fault: "too_many_requests" });
    expect(check(right, "192.0.2.9")).toBe(credentials);
  });

  it("locks no other network out", () => {
    fail(20);

    expect(check(right, "198.51.100.1")).toBe(credentials);
  });
});
