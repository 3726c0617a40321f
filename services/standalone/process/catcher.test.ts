import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type Edge } from "@posthaste/http";
import { type Clock } from "@posthaste/ports";
import { systemClock } from "@posthaste/process";
import { behaviourOf, createCatcher } from "./catcher.ts";

describe("the behaviour that a path selects", () => {
  it.each([
    ["/hello", 0, { status: 200, delayMs: 0 }],
    ["/", 0, { status: 200, delayMs: 0 }],
    ["/status/503", 0, { status: 503, delayMs: 0 }],
    ["/status/503?x=/status/400", 0, { status: 503, delayMs: 0 }],
    ["/status/99", 0, { status: 200, delayMs: 0 }],
    ["/status/101", 0, { status: 200, delayMs: 0 }],
    ["/status", 0, { status: 200, delayMs: 0 }],
    ["/delay/2s", 0, { status: 200, delayMs: 2_000 }],
    ["/delay/soon", 0, { status: 200, delayMs: 0 }],
    ["/delay/1s/status/500", 0, { status: 500, delayMs: 1_000 }],
    ["/fail/2", 0, { status: 500, delayMs: 0 }],
    ["/fail/2", 1, { status: 500, delayMs: 0 }],
    ["/fail/2", 2, { status: 200, delayMs: 0 }],
  ])("%s after %d retries is %j", (path, retried, behaviour) => {
    expect(behaviourOf(path, retried)).toEqual(behaviour);
  });
});

describe("the catcher", () => {
  let lines: string[];
  let catcher: Edge;
  let armed: Set<() => void>;

  const clock: Clock = {
    ...systemClock(),
    after: (ms, task) => {
      const callOff = systemClock().after(ms, () => {
        armed.delete(task);
        task();
      });
      armed.add(task);
      return () => {
        armed.delete(task);
        callOff();
      };
    },
  };

  beforeEach(async () => {
    lines = [];
    armed = new Set();
    const print = (line: string): void => void lines.push(line);
    catcher = createCatcher({ host: "127.0.0.1", port: 0, clock, connectionsMax: 100, print });
    await catcher.start();
  });
  afterEach(() => catcher.stop());

  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${catcher.port}${path}`, { method: "POST", ...init });

  it.each(["Service", "Upstash"])(
    "prints an arrival in the %s dialect as one line",
    async (prefix) => {
      const headers = { [`${prefix}-Message-Id`]: "msg_1", [`${prefix}-Retried`]: "2" };

      const response = await send("/hello?a=b", { body: "12345", headers });

      expect(response.status).toBe(200);
      expect(lines).toEqual([
        expect.stringMatching(
          /^\d\d:\d\d:\d\d\.\d{3} {2}caught {2}POST \/hello\?a=b {2}5 B {2}msg_1 {2}retried 2 {2}→ 200$/,
        ),
      ]);
    },
  );

  it("answers as its path says, after the delay", async () => {
    const from = performance.now();

    const response = await send("/delay/1s/status/418");

    expect(response.status).toBe(418);
    expect(performance.now() - from).toBeGreaterThanOrEqual(990);
  });

  it("replaces control characters of headers, so that a request is one line", async () => {
    await send("/x", { headers: { "Service-Message-Id": "a\u009b2Jb" } });

    expect(lines[0]).toContain("a?2Jb");
  });

  it("stops while a request is made to wait, and forgets about it", async () => {
    const waiting = send("/delay/30m").then(
      ({ status }) => status,
      () => "cut",
    );
    while (lines.length === 0) await new Promise((resolve) => setImmediate(resolve));

    await catcher.stop();

    expect(await waiting).toBe("cut");
    // The response closes a few turns after the server.
    for (let turn = 0; turn < 100 && armed.size > 0; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(armed.size).toBe(0);
  });
});
