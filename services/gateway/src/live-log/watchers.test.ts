import { describe, expect, it } from "@jest/globals";
import { isFault, type LogFilter, type TenantId, tenantId } from "@posthaste/domain";
import { openEmbedded } from "@posthaste/embedded";
import { type MessageLog } from "@posthaste/ports";
import { aMessage, anotherTenant, aPolicy, aTenant, recordingLog } from "@posthaste/testing";
import { expectAllGivenBack } from "@posthaste/testing/give-back";
import { openInMemory } from "@posthaste/testing/in-memory";
import { createLogWatchers, type Waiter } from "./watchers.ts";

function open(connectionsMax = 3_200) {
  const { clock, log, store } = openInMemory(openEmbedded);
  let watches = 0;
  let reads = 0;
  const messageLog: Pick<MessageLog, "list" | "watch"> = {
    list: (...asked) => {
      reads++;
      return store.messageLog.list(...asked);
    },
    watch: (...asked) => {
      watches++;
      const stop = store.messageLog.watch(...asked);
      return () => {
        watches--;
        stop();
      };
    },
  };
  const watchers = createLogWatchers({ messageLog, clock, log }, connectionsMax);
  const join = (filter: LogFilter = {}, tenant: TenantId = aTenant): Waiter => {
    const waiter = watchers.join(tenant, filter);
    if (isFault(waiter)) throw new Error(waiter.text);
    return waiter;
  };
  const publish = async (label: string, tenant = aTenant): Promise<void> => {
    const policy = aPolicy({ labels: [label] });
    const message = aMessage({ id: store.ids.next(), now: clock.now(), policy, tenant });
    await store.messageLog.append([{ message }]);
  };
  return { clock, watchers, join, publish, watches: () => watches, reads: () => reads };
}

const waitMs = 30_000;
function listening(waiter: Waiter): { readonly isWoken: () => boolean } {
  let isWoken = false;
  void waiter.grown(waitMs).then(() => (isWoken = true));
  return { isWoken: () => isWoken };
}

describe("requests that wait for events", () => {
  it("are woken a moment after the commit by events that match their filter, and by no others", async () => {
    const { clock, join, publish } = open();
    const wanted = listening(join({ labels: ["wanted"] }));
    const other = listening(join({ labels: ["other"] }));
    const foreign = listening(join({}, anotherTenant));

    await publish("wanted");
    await clock.advance(200);

    expect([wanted, other, foreign].map(({ isWoken }) => isWoken())).toEqual([true, false, false]);
  });

  it("have the log's end read once for all requests of a tenant, however many there are", async () => {
    const { clock, join, publish, reads, watches } = open();
    const waiting = Array.from({ length: 50 }, () => listening(join()));

    for (let i = 0; i < 20; i++) await publish("any");
    await clock.advance(200);

    expect(waiting.every(({ isWoken }) => isWoken())).toBe(true);
    expect([reads(), watches()]).toEqual([1, 1]);
  });

  it("are not woken twice by the same event", async () => {
    const { clock, join, publish } = open();
    const waiter = join({ labels: ["one"] });
    await publish("one");
    await clock.advance(200);
    await waiter.grown(waitMs);

    const second = listening(waiter);
    await publish("two");
    await clock.advance(200);

    expect(second.isWoken()).toBe(false);
  });

  it("get events written between their read and their wait", async () => {
    const { clock, join, publish } = open();
    const waiter = join();
    await publish("any");
    await clock.advance(200);

    const waiting = listening(waiter);
    await clock.advance(0);

    expect(waiting.isWoken()).toBe(true);
  });

  it("wait no longer than requested, and leave nothing behind", async () => {
    const { clock, join, publish, watches } = open();
    const waiter = join();
    const waiting = listening(waiter);
    await clock.advance(waitMs - 1);
    expect(waiting.isWoken()).toBe(false);
    await clock.advance(1);
    expect(waiting.isWoken()).toBe(true);

    await publish("any");
    waiter.leave();
    waiter.leave();

    expect([watches(), clock.armed, waiter.isOver]).toEqual([0, 0, true]);
  });

  it("have each tenant its part of the places, and all of them no more than there are", async () => {
    const { join, watchers } = open(3_200);
    const tenants = ["a", "b", "c", "d", "e", "f", "g", "h"] as const;
    const first = Array.from({ length: 100 }, () => join());

    expect(watchers.join(aTenant, {})).toMatchObject({ fault: "too_many_requests" });
    first[0]?.leave();
    expect(isFault(watchers.join(aTenant, {}))).toBe(false);

    for (const name of tenants.slice(1)) for (let i = 0; i < 100; i++) join({}, tenantId(name));
    expect(watchers.join(tenantId("a"), {})).toMatchObject({ fault: "overloaded" });
  });

  it("leave their places to as many others, in whatever order", async () => {
    const { clock } = open();
    await expectAllGivenBack(() => {
      let watches = 0;
      const messageLog: Pick<MessageLog, "list" | "watch"> = {
        list: async () => ({ items: [], positions: [] }),
        watch: () => {
          watches++;
          return () => watches--;
        },
      };
      const watchers = createLogWatchers({ messageLog, clock, log: recordingLog() }, 32);
      const takes = [..."abcdefghij"].map((tenant) => () => {
        const waiter = watchers.join(tenantId(tenant), {});
        return isFault(waiter) ? undefined : { giveBack: () => waiter.leave() };
      });
      return { takes, held: () => watches };
    });
  });

  it("end with the process: waiting ones, and ones that come then", async () => {
    const { clock, join, watchers, watches } = open();
    const waiter = join();
    const waiting = listening(waiter);

    await watchers.stop();
    await clock.advance(0);
    const late = join();
    await late.grown(waitMs);

    expect([waiting.isWoken(), waiter.isOver, late.isOver, watches()]).toEqual([
      true,
      true,
      true,
      0,
    ]);
  });
});
