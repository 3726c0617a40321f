/** The kind of request that the guards reports before it lets one in, by which it is refused under load. */
import { type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it } from "@jest/globals";
import { gatewayEndpoints, rawTargetOf } from "@posthaste/contract";
import { fault } from "@posthaste/domain";
import { type RequestKind } from "@posthaste/http";
import { noTelemetry } from "@posthaste/ports";
import { virtualClock } from "@posthaste/testing";
import { guarded, type RequestGuards } from "./guards.ts";
import { createRawHandler, type TargetHandlers } from "./raw-handler.ts";

function crowded() {
  const asked: RequestKind[] = [];
  const refuse = (kind: RequestKind) => {
    asked.push(kind);
    return fault("overloaded", "too much load");
  };
  // Everything that is called before the first refusal.
  const guards = {
    admission: { refuse, close: () => undefined },
    answers: { fault: () => undefined },
  };
  return { asked, guards: guards as unknown as RequestGuards };
}

const response = {} as ServerResponse<IncomingMessage>;
const request = (rawHeaders: readonly string[]) =>
  ({
    method: "POST",
    url: "/v2/publish/https://a.example",
    rawHeaders,
  }) as unknown as IncomingMessage;

async function rawKindOf(...rawHeaders: readonly string[]): Promise<RequestKind | undefined> {
  const { asked, guards } = crowded();
  const row = rawTargetOf("POST", "/v2/publish/https://a.example");
  if (!row) throw new Error("it is a publish");
  const take = createRawHandler(
    { guards, clock: virtualClock(), telemetry: noTelemetry },
    {} as TargetHandlers,
  );
  await take(row, request(rawHeaders), response);
  return asked[0];
}

describe("under load", () => {
  it("requests that continue accepted work are never refused, nor batches, since those may continue it", async () => {
    const refusable: string[] = [];
    for (const [id, row] of Object.entries(gatewayEndpoints)) {
      const { asked, guards } = crowded();
      const handle = guarded(guards, "readMe", row as typeof gatewayEndpoints.readMe, () =>
        Promise.reject(new Error("let in")),
      );
      await handle(
        request([]) as Parameters<typeof handle>[0],
        response as Parameters<typeof handle>[1],
      );
      if (asked[0] !== "ongoing") refusable.push(`${asked[0]} ${id}`);
    }

    expect(refusable.filter((each) => !/^(list|read) /.test(each)).toSorted()).toEqual([
      "publish triggerBatch",
    ]);
    expect(refusable).not.toContain("read readRunHistory");
  });

  it("a publish is refused with the others, unless it is part of an existing run", async () => {
    const run = ["Upstash-Workflow-RunId", "r"];

    expect(await rawKindOf()).toBe("publish");
    expect(await rawKindOf(...run, "Upstash-Workflow-Init", "true")).toBe("publish");
    expect(await rawKindOf(...run, "Upstash-Workflow-Init", "false")).toBe("ongoing");
  });
});
