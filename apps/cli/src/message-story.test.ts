import { expect, it } from "@jest/globals";
import { type LogEntry, type Message } from "@posthaste/client";
import { storyOf } from "./message-story.ts";

const message = {
  ...{ time: 1, messageId: "msg_1", url: "https://a.example", method: "POST", maxRetries: 3 },
  ...{ timeout: 1_000, callerIP: "192.0.2.7", header: {} },
};
const error = (body: Uint8Array): LogEntry => ({
  ...{ ...message, state: "ERROR", responseStatus: 500 },
  responseBody: Buffer.from(body).toString("base64"),
});
const umlauts = Buffer.from("ü".repeat(10));

it.each([
  ["text", Buffer.from("no such order"), { responseBody: "no such order" }],
  ["text that is cut within a character", umlauts.subarray(0, 19), { responseBody: "ü".repeat(9) }],
  ["text with a sign for what cannot be read", Buffer.from("a\ufffd"), { responseBody: "a\ufffd" }],
  ["no text", Uint8Array.of(0xff, 0x00), { responseBodyBase64: "/wA=" }],
])("an answer that is %s is shown as such", (_, body, told) => {
  expect(storyOf(error(body), [error(body)])).toMatchObject({ ...told, responseStatus: 500 });
});

it("a delivered message has no reason, though an earlier attempt failed", () => {
  const delivered: LogEntry = { ...message, time: 2, state: "DELIVERED" };
  const story = storyOf(delivered, [delivered, error(Buffer.from("busy"))]);

  expect(story).toMatchObject({ state: "DELIVERED", attempts: 2 });
  expect(story).not.toHaveProperty("responseStatus");
  expect(story.events.map(({ state }) => state)).toEqual(["ERROR", "DELIVERED"]);
});

it.each([
  [{ answerBody: "made" }, { responseBody: "made" }],
  [
    { answerBodyBase64: "/wA=", answerTruncated: true },
    { responseBodyBase64: "/wA=", truncated: true },
  ],
] as const)("a delivered message shows what is kept of the answer: %j", (kept, told) => {
  const delivered: LogEntry = { ...message, time: 2, state: "DELIVERED" };
  const last = { endedAt: 2, ended: "delivered", answerStatus: 201, answerBytes: 4 } as const;

  expect(storyOf(delivered, [delivered], [{ ...last, ...kept }])).toMatchObject(told);
});

it("each attempt is shown with its time, duration, status and size, beside the number of attempts", () => {
  const delivered: LogEntry = { ...message, time: 2, state: "DELIVERED" };
  const tries: Message["attempts"] = [
    { startedAt: 1, endedAt: 2, tookMs: 1, ended: "delivered", answerStatus: 201, answerBytes: 9 },
  ];
  const whole: Message = {
    ...{ ...message, notBefore: 1, createdAt: 1 },
    ...{ state: "DELIVERED", attempts: tries },
  };

  const story = storyOf(whole, [delivered], tries);

  expect(story).toMatchObject({ attempts: 1, tries });
});
