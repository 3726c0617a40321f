import { describe, expect, it } from "@jest/globals";
import { recordingLog } from "./recording-log.ts";

describe("a recording log", () => {
  it("keeps its lines with level, event and fields, oldest first", () => {
    const log = recordingLog();
    log.debug("a.began");
    log.error("a.failed", { id: 1 });

    expect(log.lines).toEqual([
      { level: "debug", event: "a.began", fields: {} },
      { level: "error", event: "a.failed", fields: { id: 1 } },
    ]);
    expect(log.events()).toEqual(["a.began", "a.failed"]);
  });

  it("that does not debug drops debug lines and says so", () => {
    const log = recordingLog(false);
    log.debug("a.began");
    log.warn("a.slow");

    expect([log.debugs, log.events()]).toEqual([false, ["a.slow"]]);
  });
});
