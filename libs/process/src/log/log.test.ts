import { describe, expect, it } from "@jest/globals";
import { type LogFields } from "@posthaste/ports";
import { systemClock } from "../clock.ts";
import { createLog, type LogOptions } from "./log.ts";

function linesOf(options: Partial<LogOptions>, event: string, fields: LogFields): string[] {
  const lines: string[] = [];
  const log = createLog({
    service: "gateway",
    level: "info",
    format: "json",
    clock: { ...systemClock(), now: () => 0 },
    write: (line) => lines.push(line),
    ...options,
  });
  log.info(event, fields);
  return lines;
}

describe("a log line in production", () => {
  it("is one JSON object with the time, the service, the event and its fields", () => {
    const [line] = linesOf({}, "message.attempted", { id: "msg_1", status: 500, durationMs: 12 });

    expect(JSON.parse(line ?? "")).toEqual({
      level: "info",
      time: "1970-01-01T00:00:00.000Z",
      service: "gateway",
      event: "message.attempted",
      id: "msg_1",
      status: 500,
      durationMs: 12,
    });
  });

  it.each(["json", "human"] as const)(
    "holds no field that is not on the allow-list, but names it (%s)",
    (format) => {
      const fields = {
        body: "canary-1",
        headers: { authorization: "canary-2" },
        token: "canary-3",
        id: { toJSON: () => "canary-4" },
        ids: [["canary-5"]],
      };

      const [line] = linesOf({ format }, "message.attempted", fields);

      expect(line).not.toContain("canary");
      for (const name of Object.keys(fields)) expect(line).toContain(name);
    },
  );

  it("shows an error without the query, the user and the token that its text may hold", () => {
    const error = new Error(
      "call to https://me:canary@a.example/x?key=canary failed: Bearer canary",
      { cause: new Error("https://a.example/?canary") },
    );

    const [line] = linesOf({}, "call.failed", { error });

    expect(line).toContain("a.example/x");
    expect(line).not.toContain("canary");
  });

  it("cuts texts and lists that are too long", () => {
    const [line] = linesOf({}, "x", { reason: "r".repeat(100_000), ids: Array(1_000).fill("i") });

    expect(line?.length).toBeLessThan(1_500);
  });
});

describe("a log line in the dev profile", () => {
  it("is one short line", () => {
    const lines = linesOf({ format: "human" }, "message.attempted", { id: "msg_1", status: 500 });

    expect(lines).toEqual(["00:00:00.000 info  message.attempted id=msg_1 status=500\n"]);
  });

  it("is one line for any value", () => {
    const [line] = linesOf({ format: "human" }, "x", {
      reason: "a\nb\r\u001b[2J\u009b2J x=1 \u2028",
    });

    expect(line?.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
  });
});

describe("the level", () => {
  it("silences lower levels, and shows whether debug lines are written", () => {
    expect(linesOf({ level: "warn" }, "x", {})).toEqual([]);
    expect(
      createLog({ service: "s", level: "info", format: "human", clock: systemClock() }).debugs,
    ).toBe(false);
    expect(
      createLog({ service: "s", level: "debug", format: "human", clock: systemClock() }).debugs,
    ).toBe(true);
  });
});
