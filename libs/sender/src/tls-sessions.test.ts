import { describe, expect, it } from "@jest/globals";
import { TlsSessions } from "./tls-sessions.ts";

describe("TLS sessions that are kept", () => {
  it("are the latest of each destination", () => {
    const sessions = new TlsSessions();
    sessions.keep("a", Buffer.from("first"));
    sessions.keep("a", Buffer.from("second"));

    expect([sessions.of("a")?.toString(), sessions.of("b")]).toEqual(["second", undefined]);
  });

  it("are of a thousand destinations, with the five hundred that were used last", () => {
    const sessions = new TlsSessions();
    for (let n = 0; n < 10_000; n++) sessions.keep(`${n}`, Buffer.from("x"));

    expect([sessions.of("9999")?.length, sessions.of("9500")?.length]).toEqual([1, 1]);
    expect(sessions.of("8999")).toBeUndefined();
  });

  it("are not kept for a destination whose session is large", () => {
    const sessions = new TlsSessions();
    sessions.keep("a", Buffer.from("small"));
    sessions.keep("a", Buffer.alloc(64 * 1_024));

    expect(sessions.of("a")).toBeUndefined();
  });
});
