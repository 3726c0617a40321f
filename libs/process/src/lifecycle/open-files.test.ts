import { describe, expect, it } from "@jest/globals";
import { recordingLog } from "@posthaste/testing";
import { fitSockets, limitIn, listenersWithin, type Sockets, socketsWithin } from "./open-files.ts";

const wanted: Sockets = { connections: 8_192, calls: 1_500 };

describe("the sockets of a process that may have few files open", () => {
  it.each<[string, number | undefined, Sockets]>([
    ["as wanted where the limit is not known", undefined, wanted],
    ["as wanted where all of it fits", 9_756, wanted],
    [
      "fewer connections, and all calls, where half is enough for those",
      4_096,
      { connections: 2_532, calls: 1_500 },
    ],
    ["half and half of a small one", 256, { connections: 96, calls: 96 }],
    ["some of each, whatever the limit", 20, { connections: 8, calls: 8 }],
  ])("are %s", (_, limit, expected) => {
    expect(socketsWithin(limit, wanted)).toEqual(expected);
  });

  it("are logged in one line, and only when they are fewer", () => {
    const log = recordingLog();

    fitSockets(wanted, log, 1_000_000);
    fitSockets(wanted, log, 256);

    expect(log.lines.map(({ event, fields }) => [event, fields])).toEqual([
      ["process.few_open_files", { limit: 256, needed: 9_756, connections: 96, calls: 96 }],
    ]);
  });

  it.each([
    [8_192, 2, { callers: 7_168, each: 512 }],
    [96, 1, { callers: 90, each: 6 }],
    [8, 2, { callers: 1, each: 4 }],
    [8_192, 0, { callers: 8_192, each: 512 }],
  ])("of %i connections and %i other listeners are shared", (connections, others, expected) => {
    expect(listenersWithin(connections, others)).toEqual(expected);
  });

  it.each([
    [
      "Limit  Soft Limit  Hard Limit  Units\nMax open files            256                  4096                 files\n",
      256,
    ],
    ["Max open files            unlimited            unlimited            files\n", undefined],
    ["", undefined],
  ])("are read from the system's limits", (text, expected) => {
    expect(limitIn(text)).toBe(expected);
  });
});
