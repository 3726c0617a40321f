import { describe, expect, it } from "@jest/globals";
import { aRecordIn, epochStart as now, liveStates } from "@posthaste/testing";
import { cancel } from "./cancel.ts";

describe("canceling", () => {
  it.each(liveStates(now))(
    "ends a message that is $kind, fences its attempt and leaves the fact to tell",
    (state) => {
      const record = aRecordIn(state, { epoch: 4, retried: 2 });

      expect(cancel(record, now)).toEqual({
        next: { kind: "canceled", endedAt: now },
        epoch: 5,
        wakeAt: now + 30_000,
        fact: {
          kind: "fact",
          id: record.message.id,
          attempt: 2,
          startedAt: undefined,
          endedAt: now,
          ended: "canceled",
        },
      });
    },
  );
});
