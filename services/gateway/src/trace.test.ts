import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "@jest/globals";
import { createAnswers } from "@posthaste/http";
import { noTracer } from "@posthaste/ports";
import { recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { inSpan } from "./trace.ts";

it("the line about a request whose work failed says its trace, although the answer is given outside it", async () => {
  const [traceId, spanId] = ["a".repeat(32), "b".repeat(16)];
  const log = recordingLog();
  const answers = createAnswers({ log, random: seededRandom(1), clock: virtualClock() });
  const req = new IncomingMessage(new Socket());
  const span = { traceParent: `00-${traceId}-${spanId}-01`, end: () => undefined };

  const work = inSpan(noTracer, { req, span }, () => Promise.reject(new Error("ours")));
  await work.catch((error: unknown) => answers.failed(new ServerResponse(req), error));

  expect(
    log.lines.map(({ event, fields }) => [event, fields?.["traceId"], fields?.["spanId"]]),
  ).toEqual([["request.failed", traceId, spanId]]);
});
