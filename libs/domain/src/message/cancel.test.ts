import { describe, expect, it } from "@jest/globals";
import {
  aRecordIn,
  aTenant,
  epochStart as now,
  finishedStates,
  liveStates,
} from "@posthaste/testing";
import { messageId, runId, runKey } from "../shared/ids.ts";
import { cancel, dropped } from "./cancel.ts";

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

describe("what is left of a run that has ended", () => {
  const id = runId("run");
  const key = runKey(aTenant, id, 1);
  const run = { id, key, root: messageId("msg_root"), part: "s1", bytes: 0, createdAt: 0 };

  it.each(liveStates(now))("is dropped where it is $kind, unless it is running", (state) => {
    const record = aRecordIn(state, { epoch: 4, run });

    expect(dropped(record, now)).toEqual(
      state.kind === "claimed" ? undefined : { next: { kind: "canceled", endedAt: now }, epoch: 5 },
    );
    expect(dropped(aRecordIn(state), now)).toBeUndefined();
  });

  it.each(finishedStates())("is left alone where it is $kind", (state) => {
    expect(dropped(aRecordIn(state, { run }), now)).toBeUndefined();
  });
});
