import { describe, expect, it } from "@jest/globals";
import { type LogEntry } from "@posthaste/client/api";
import { storyOf } from "./attempts.ts";

const event = (state: LogEntry["state"], time: number, more: Partial<LogEntry> = {}): LogEntry => ({
  messageId: "msg_1",
  url: "https://a.example",
  method: "POST",
  timeout: 1_000,
  maxRetries: 3,
  header: {},
  callerIP: "192.0.2.1",
  state,
  time,
  ...more,
});

const failedOnce = [
  event("CREATED", 1),
  event("ACTIVE", 2),
  event("ERROR", 3, { responseStatus: 503, answerStatus: 503, answerBytes: 12 }),
  event("RETRY", 3, { nextDeliveryTime: 10 }),
];
const newestFirst = (events: readonly LogEntry[]): readonly LogEntry[] => events.toReversed();

describe("the events of a message are", () => {
  it("its attempts, the newest first, each with its answer and the next event", () => {
    const answered = { answerStatus: 201, answerBytes: 70_000 };
    const events = [...failedOnce, event("ACTIVE", 10), event("DELIVERED", 12, answered)];

    const story = storyOf(newestFirst(events), true);

    expect(story).toMatchObject({ state: "DELIVERED", createdAt: 1, endedAt: 12 });
    expect(story.attempts).toMatchObject([
      { number: 2, startedAt: 10, endedAt: 12, outcome: "delivered" },
      { number: 1, startedAt: 2, endedAt: 3, outcome: "failed", nextAt: 10 },
    ]);
    expect(story.attempts.map(({ answer }) => answer)).toEqual([
      { status: 201, bytes: 70_000 },
      { status: 503, bytes: 12 },
    ]);
    expect(story.attempts[1]?.failure?.responseStatus).toBe(503);
  });

  it("an attempt under way while it has no end", () => {
    const story = storyOf(newestFirst([event("CREATED", 1), event("ACTIVE", 2)]), true);

    expect(story.attempts).toMatchObject([{ outcome: "under way", endedAt: undefined }]);
    expect(story.endedAt).toBeUndefined();
  });

  it("a failure with its last attempt", () => {
    const events = [event("CREATED", 1), event("ACTIVE", 2), event("ERROR", 4), event("FAILED", 4)];

    const story = storyOf(newestFirst(events), true);

    expect(story).toMatchObject({ state: "FAILED", endedAt: 4 });
    expect(story.attempts).toMatchObject([{ outcome: "failed", startedAt: 2, endedAt: 4 }]);
  });

  it("a cancellation: of a running attempt, or of the wait after one", () => {
    const underWay = [event("CREATED", 1), event("ACTIVE", 2), event("CANCELED", 5)];
    const waiting = [...failedOnce, event("CANCELED", 5)];

    expect(storyOf(newestFirst(underWay), true).attempts[0]?.outcome).toBe("canceled");
    expect(storyOf(newestFirst(waiting), true).attempts[0]?.outcome).toBe("failed");
    expect(storyOf(newestFirst(waiting), true).state).toBe("CANCELED");
  });

  it("without numbers where the first of them are on another page", () => {
    const story = storyOf(newestFirst(failedOnce.slice(2)), false);

    expect(story.attempts).toMatchObject([
      { number: undefined, startedAt: undefined, endedAt: 3, outcome: "failed" },
    ]);
    expect(story.state).toBe("RETRY");
  });
});
