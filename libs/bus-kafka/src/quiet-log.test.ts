import { expect, it } from "@jest/globals";
import { recordingLog, virtualClock } from "@posthaste/testing";
import { logLevel } from "kafkajs";
import { quietLog } from "./quiet-log.ts";

it("a line that the client repeats within a second is counted, not logged", async () => {
  const { say, log, clock } = quiet();
  for (let i = 0; i < 5; i++) say("connection refused");
  await clock.advance(1_000);

  say("connection refused");

  expect(log.lines.map(({ level, event, fields }) => [level, event, fields["unsaid"]])).toEqual([
    ["debug", "bus.client", 0],
    ["debug", "bus.client", 4],
  ]);
});

it("the client logs at most fifty different lines a second", () => {
  const { say, log } = quiet();

  for (let i = 0; i < 200; i++) say(`connection ${i} refused`);

  expect(log.lines).toHaveLength(50);
});

it("the client logs nothing unless the log debugs", () => {
  expect(quietLog(recordingLog(false), virtualClock()).level).toBe(logLevel.NOTHING);
});

function quiet() {
  const [log, clock] = [recordingLog(), virtualClock()];
  const write = quietLog(log, clock).creator(logLevel.INFO);
  const say = (message: string): void =>
    write({
      namespace: "Connection",
      level: logLevel.ERROR,
      label: "ERROR",
      log: { timestamp: "", message },
    });
  return { say, log, clock };
}
