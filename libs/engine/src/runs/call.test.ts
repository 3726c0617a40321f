import { describe, expect, it } from "@jest/globals";
import { isFault, limits, type Message, type RunItem, runMessageId } from "@posthaste/domain";
import {
  aCallbackPlan,
  aCommand,
  anAnswer,
  aPolicy,
  aRunId,
  aStartCommand,
  aStepCommand,
  aTenant,
} from "@posthaste/testing";
import { aLocalDelivery, open, type Ports, read } from "../opened.fixture.ts";
import { appendSteps } from "./append.ts";
import { placeCall, deliverCallResult } from "./call.ts";
import { startRun } from "./start.ts";

const address = { tenant: aTenant, id: aRunId };
const callback = aCallbackPlan({ url: "https://endpoint.example/workflow" });

const aCall = {
  ...aCommand({ policy: aPolicy({ retriesMax: 5, callback }) }),
  run: { kind: "call", id: aRunId, step: 1 },
} as const;

async function opened() {
  const ports = open();
  await startRun(ports, aStartCommand());
  const run = await ports.runs.get(address);
  if (!run) throw new Error("there is a run");
  const recordOf = (part: string) =>
    read(ports, { id: runMessageId(run.root, part), tenant: aTenant });
  const messageOf = async (part: string): Promise<Message> => {
    const record = await recordOf(part);
    if (!record) throw new Error(`${part} is not there`);
    return record.message;
  };
  return { ports, recordOf, messageOf };
}

const called = ({ clock }: Ports, status: number): RunItem => ({
  kind: "run",
  says: "called",
  attempt: 2,
  endedAt: clock.now(),
  response: anAnswer(status, { body: "answer" }),
});

describe("a call of a step", () => {
  it("that is requested again is the first one, and gives its slot back", async () => {
    const { messageOf, ports } = await opened();
    const first = await placeCall(ports, aCall);
    const backlog = await ports.records.backlog(aTenant);
    const local = aLocalDelivery(1);

    const second = await placeCall({ ...ports, local }, aCall);

    if (isFault(first)) throw new Error(first.text);
    expect(second).toEqual({ ...first, deduplicated: true });
    expect((await messageOf("c1")).url).toBe("https://destination.example/hook");
    expect(await ports.records.backlog(aTenant)).toBe(backlog);
    expect({ ran: local.ran.length, taken: local.taken }).toEqual({ ran: 0, taken: 0 });
  });

  it.each([
    [200, 2],
    [500, 5],
  ])("has its last answer reported to the endpoint once, as final: %d", async (status, retried) => {
    const { messageOf, ports, recordOf } = await opened();
    await placeCall(ports, aCall);
    const message = await messageOf("c1");

    await deliverCallResult(ports, message, called(ports, status));
    const first = await recordOf("a1");
    await deliverCallResult(ports, message, called(ports, 418));

    expect(first?.message.url).toBe(callback.url);
    expect(JSON.parse(new TextDecoder().decode(first?.message.body))).toMatchObject({
      status,
      retried,
      maxRetries: 5,
      body: Buffer.from("answer").toString("base64"),
    });
    expect(await recordOf("a1")).toEqual(first);
  });

  it("is reported with its request, unless that is too large to fit beside the answer", async () => {
    for (const [bytes, told] of [
      [limits.runSourceBytesMax, limits.runSourceBytesMax],
      [limits.runSourceBytesMax + 1, 0],
    ] as const) {
      const { messageOf, ports } = await opened();
      await placeCall(ports, { ...aCall, body: new Uint8Array(bytes) });

      await deliverCallResult(ports, await messageOf("c1"), called(ports, 200));

      const body = new TextDecoder().decode((await messageOf("a1")).body);
      const { sourceBody } = JSON.parse(body) as { readonly sourceBody: string };
      expect(Buffer.from(sourceBody, "base64")).toHaveLength(told);
    }
  });

  it("whose step is done by then reports nothing", async () => {
    const { messageOf, ports, recordOf } = await opened();
    await placeCall(ports, aCall);
    const message = await messageOf("c1");
    await appendSteps(ports, [aStepCommand({ role: "result", step: 1 })]);

    await deliverCallResult(ports, message, called(ports, 200));

    expect(await recordOf("a1")).toBeUndefined();
  });
});
