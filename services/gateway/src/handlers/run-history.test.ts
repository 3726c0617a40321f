import { describe, expect, it } from "@jest/globals";
import { gatewayEndpoints } from "@posthaste/contract";
import {
  defaultPlan,
  type HistoryEntry,
  isFault,
  type Run,
  runId,
  runKey,
  type TokenScope,
} from "@posthaste/domain";
import { type RunStore } from "@posthaste/ports";
import { aTenant, newId } from "@posthaste/testing";
import { aReadPermit, readsInOf } from "../reads.fixture.ts";
import { type RunHandlerParts, runHandlers } from "./runs.ts";

const aRun: Run = {
  ...{ key: runKey(aTenant, runId("run1"), 1), id: runId("run1"), generation: 1 },
  ...{ root: newId(), tenant: aTenant, dialect: "service", shard: 0, url: "https://a.example/" },
  ...{ callerIp: "10.0.0.1", createdAt: 1, bytes: 0, reached: 0, version: 1 },
  history: Array.from({ length: 4 }, (_, step) => ({ role: "result", step })) as never,
  state: { kind: "active", pending: [] } as never,
  plan: { features: [], headers: [], policy: { timeoutMs: 1, retriesMax: 3, labels: [] } },
};

const entry = (rank: number): HistoryEntry => ({
  messageId: newId(),
  body: Buffer.from(`${rank}`),
});

/** `readable`: the number of entries left when they are read, two at a time. */
async function readHistory(run: Run, scope: TokenScope, readable: number) {
  const history = async (_run: unknown, from: number) =>
    [from, from + 1].filter((rank) => rank < readable).map(entry);
  const runs = { get: async () => run, history } as unknown as RunStore;
  const ports = { runs, reads: readsInOf({ runs }) } as RunHandlerParts;
  const query = gatewayEndpoints.readRunHistory.query.parse("");
  if (isFault(query)) throw new Error(query.text);
  return runHandlers(ports).readRunHistory({
    ...{ param: () => "run1", query, body: undefined, scope, callerIp: "127.0.0.1" },
    tenant: {
      ...{ id: aTenant, dialect: "service", plan: defaultPlan },
      keys: { current: "", next: "" },
    },
    rawHeaders: [],
    onGone: () => undefined,
    withPermit: (read) => read(aReadPermit),
  });
}

async function historyOf(readable: number): Promise<{ pieces: string; failed: boolean }> {
  const reply = await readHistory(aRun, "full", readable);
  if (isFault(reply)) throw new Error(reply.text);
  const read = await reply.read(aReadPermit);
  if (isFault(read) || !("pieces" in read)) throw new Error("no pieces");
  let pieces = "";
  try {
    for await (const piece of read.pieces) pieces += isFault(piece) ? piece.text : piece;
    return { pieces, failed: false };
  } catch {
    return { pieces, failed: true };
  }
}

describe("the history of a run", () => {
  it("is whole where all of it is read", async () => {
    const { failed, pieces } = await historyOf(4);

    expect(failed).toBe(false);
    expect(JSON.parse(pieces)).toHaveLength(4);
  });

  it.each([0, 2, 3])(
    "is cut, and never a whole one, when a sweep has removed it behind %s entries",
    async (readable) => {
      const { failed, pieces } = await historyOf(readable);

      expect(failed).toBe(true);
      expect(() => void JSON.parse(pieces)).toThrow();
    },
  );

  it("is answered to a token of scope full alone where the run redacts", async () => {
    const { plan } = aRun;
    const policy = { ...plan.policy, redaction: { body: true, headers: [] } };
    const redacting = { ...aRun, plan: { ...plan, policy } };

    for (const scope of ["read", "operate"] as const) {
      expect(await readHistory(redacting, scope, 4)).toMatchObject({
        fault: "forbidden",
        text: `this needs a token of scope full; the scope of this token is ${scope}`,
      });
      expect(await readHistory(aRun, scope, 4)).toMatchObject({ status: 200 });
    }
    expect(await readHistory(redacting, "full", 4)).toMatchObject({ status: 200 });
  });
});
