import { describe, expect, it } from "@jest/globals";
import {
  newOrder,
  type PartName,
  type Progress,
  type Run,
  type RunPart,
  runId,
  runKey,
} from "@posthaste/domain";
import { type RunLog, type PartsPage } from "@posthaste/ports";
import { aTenant, newId } from "@posthaste/testing";
import { readsOf } from "../reads.fixture.ts";
import { readingOf } from "./run-readings.ts";

const mebibyte = 1024 * 1024;
const view = { sha256: (): string => "hash" };

const aRun = (n = 1): Run => ({
  ...{ key: runKey(aTenant, runId(`run${n}`), 1), id: runId(`run${n}`), generation: 1 },
  ...{ root: newId(), tenant: aTenant, dialect: "service", shard: 0, url: "https://a.example/" },
  ...{ callerIp: "10.0.0.1", createdAt: n, history: newOrder, bytes: 0, reached: 0, version: 1 },
  state: { kind: "succeeded", endedAt: n, pending: [] },
  plan: { features: [], headers: [], policy: { timeoutMs: 1, retriesMax: 3, labels: [] } },
});

const step = (n: number): RunPart => {
  const json = { stepId: n, stepName: `step ${n}`, stepType: "Run", out: "x".repeat(mebibyte) };
  return { name: `s${n}`, at: n, body: Buffer.from(JSON.stringify(json)) };
};

/** Returns two steps at a time, made as they are read. */
const partsOfEightSteps = async (after: PartName = ""): Promise<PartsPage> => {
  const from = after === "" ? 10 : Number(after.slice(1)) + 1;
  if (from < 18) return { parts: [step(from), step(from + 1)], next: `s${from + 1}` };
  return { parts: [{ name: "start", at: 0, body: Buffer.from("the payload") }] };
};

describe("a run with eight steps of a mebibyte", () => {
  it("is read part by part, and shows the bodies of a few, with its payload", async () => {
    const runLog = {
      parts: (_run: unknown, after?: PartName) => partsOfEightSteps(after),
      attempts: async () => [],
    } as unknown as RunLog;
    const records = { progress: async () => [] } as never;

    const reading = await readingOf(readsOf({ records, runLog }), aTenant, aRun(), view);

    const parts = [...reading.parts.values()];
    expect(parts).toHaveLength(9);
    expect(parts.filter((part) => part.step?.out !== undefined).length).toBe(4);
    expect(parts.at(-2)?.step).toMatchObject({ stepName: "step 17" });
    expect(parts.at(-1)?.body).toEqual({ kind: "text", text: "the payload" });
  });
});

describe("a run whose delivery fails while it is read", () => {
  it("shows a delivery that has failed at least as often as its attempts say", async () => {
    let failed = 0;
    const runLog = {
      parts: async () => ({ parts: [] }),
      attempts: async () => {
        await Promise.resolve();
        failed = 1;
        return [];
      },
    } as unknown as RunLog;
    const progress = async (): Promise<readonly Progress[]> => [
      { state: { kind: "held", dueAt: 1 }, retried: failed, retriesMax: 3 },
    ];
    const active: Run = { ...aRun(), state: { kind: "active", pending: [], notes: [] } };

    const reads = readsOf({ records: { progress } as never, runLog });
    const reading = await readingOf(reads, aTenant, active, view);

    expect(reading.progress.get("start")?.retried).toBe(1);
  });
});
