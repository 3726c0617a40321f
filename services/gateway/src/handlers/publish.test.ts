import { describe, expect, it } from "@jest/globals";
import { bytesPerTurn, type PublishInput } from "@posthaste/contract";
import { defaultPlan, isFault } from "@posthaste/domain";
import { aTenant } from "@posthaste/testing";
import { parsed } from "./publish.ts";

const aStep = (bytes: number): PublishInput => ({
  rawHeaders: ["Upstash-Workflow-RunId", "wfr_1"],
  destination: { kind: "url", url: "https://example.com/workflow" },
  body: Buffer.from(`{"stepId":1,"out":"${"x".repeat(bytes)}"}`),
  ...{ tenant: aTenant, plan: defaultPlan, defaultDialect: "service", callerIp: "192.0.2.7" },
  now: 1_700_000_000_000,
  checkRetryDelay: () => undefined,
  spendExpression: () => undefined,
  readUrl: (given) => given,
  leaveOut: () => undefined,
});

describe("a step of a run", () => {
  it("is parsed in turns with other work if it is long", async () => {
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns++;
      if (!done) setImmediate(count);
    };
    setImmediate(count);

    const command = await parsed(aStep(8 * bytesPerTurn));
    done = true;

    expect(isFault(command) ? command : command.run).toMatchObject({ kind: "entry" });
    expect(turns).toBeGreaterThanOrEqual(8);
  });

  it("waits for nothing if it is short", () => {
    expect(parsed(aStep(1))).toMatchObject({ run: { kind: "entry" } });
  });
});
