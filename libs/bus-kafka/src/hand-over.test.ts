import { describe, expect, it } from "@jest/globals";
import { type Handler, RefusedError, StoreError, type Topic } from "@posthaste/ports";
import { recordingLog, virtualClock } from "@posthaste/testing";
import { type KafkaMessage } from "kafkajs";
import { encode } from "./codec.ts";
import { newCounts } from "./counts.ts";
import { aHint, aSettled } from "./events.fixture.ts";
import { handOver } from "./hand-over.ts";
import { type Unreadable } from "./parking.ts";
import { type Trace } from "./trace.ts";

describe("facts", () => {
  it("are offered again, the same ones, until the handler takes them", async () => {
    const offers: string[][] = [];
    const { work, clock } = working("message.settled", async (events) => {
      offers.push(events.map(({ id }) => id));
      if (offers.length < 3) throw new Error("the store is away");
    });
    const facts = [aSettled(), aSettled()];

    const taken = work(facts.map((fact) => message(encode("message.settled", fact))));
    await clock.advance(10_000);

    expect(await taken).toBe(true);
    const ids = facts.map(({ id }) => id);
    expect(offers).toEqual([ids, ids, ids]);
  });

  it("are not offered any more once the partition belongs to another member", async () => {
    let offers = 0;
    const { work, clock, end } = working("message.settled", async () => {
      offers++;
      throw new Error("the store is away");
    });

    const taken = work([message(encode("message.settled", aSettled()))]);
    await clock.advance(0);
    end();
    await clock.advance(60_000);

    expect(await taken).toBe(false);
    expect(offers).toBe(1);
  });
});

describe("a fact on which the handler itself breaks, however often", () => {
  const breakingOn = (id: string, heard: Set<string>, error: Error): Handler<"message.settled"> =>
    async function handle(events) {
      for (const event of events) if (event.id === id) throw error;
      for (const event of events) heard.add(event.id);
    };

  it.each([new TypeError("no such thing"), new RefusedError("the document is larger than 16 MiB")])(
    "is parked as it came, and those that came with it are taken: %s",
    async (error) => {
      const facts = [aSettled(), aSettled(), aSettled()];
      const [before, poison, after] = facts;
      const heard = new Set<string>();
      const { work, clock, parked } = working(
        "message.settled",
        breakingOn(poison?.id ?? "", heard, error),
      );
      const messages = facts.map((fact) => message(encode("message.settled", fact)));

      const taken = work(messages);
      await clock.advance(60_000);

      expect(await taken).toBe(true);
      expect([...heard]).toEqual([before?.id, after?.id]);
      expect(parked.map(({ message: raw, reason }) => [raw, reason])).toEqual([
        [messages[1], `the handler fails on the event: ${error.name}`],
      ]);
    },
  );

  it("is not taken for one while the store is away", async () => {
    let failures = 0;
    const { work, clock, parked } = working("message.settled", async () => {
      if (failures++ < 50) throw new StoreError("unavailable", "away");
    });

    const taken = work([message(encode("message.settled", aSettled()))]);
    await clock.advance(600_000);

    expect(await taken).toBe(true);
    expect(parked).toEqual([]);
  });
});

it("hints are offered once", async () => {
  let offers = 0;
  const { work, clock } = working("message.due", async () => {
    offers++;
    throw new Error("the buffer is broken");
  });

  const taken = work([message(encode("message.due", aHint()))]);
  await clock.advance(60_000);

  expect(await taken).toBe(true);
  expect(offers).toBe(1);
});

describe("an unreadable event", () => {
  it("is parked unchanged, and the others are handed over", async () => {
    const heard: string[] = [];
    const { work, parked } = working("message.due", async (events) => {
      heard.push(...events.map(({ id }) => id));
    });
    const [good, bad] = [aHint(), message(Buffer.from("{"))];

    expect(await work([bad, message(encode("message.due", good))])).toBe(true);

    expect(heard).toEqual([good.id]);
    expect(parked).toEqual([
      {
        message: bad,
        topic: "prefix.message.due",
        partition: 3,
        group: "group",
        reason: expect.any(String),
      },
    ]);
  });

  it("does not count as handled until it is parked", async () => {
    let away = true;
    const { work, clock } = working("message.due", async () => undefined, {
      park: async () => {
        if (away) throw new Error("the broker is away");
      },
    });
    let taken = false;

    const handing = work([message(Buffer.from("{"))]).then(() => {
      taken = true;
    });
    await clock.advance(60_000);
    expect(taken).toBe(false);
    away = false;
    await clock.advance(10_000);

    await handing;
    expect(taken).toBe(true);
  });
});

describe("traces", () => {
  const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  it("a handler runs inside the trace of its events, apart from events of another trace", async () => {
    const calls: { inside: string | undefined; events: number }[] = [];
    let inside: string | undefined;
    const trace: Trace = {
      inject: () => undefined,
      run: (headers, task) => {
        inside = headers["traceparent"];
        const result = task();
        inside = undefined;
        return result;
      },
    };
    const handle = async (events: readonly unknown[]): Promise<void> => {
      calls.push({ inside, events: events.length });
    };
    const { work } = working("message.due", handle, { trace });
    const hint = (): Buffer => encode("message.due", aHint());

    await work([
      message(hint()),
      message(hint(), { traceparent: Buffer.from(parent) }),
      message(hint()),
      message(hint(), { traceparent: Buffer.from(parent) }),
    ]);

    expect(calls).toEqual([
      { inside: undefined, events: 2 },
      { inside: parent, events: 2 },
    ]);
  });

  it("without a tracer all events are handed over together", async () => {
    const calls: number[] = [];
    const { work } = working("message.due", async (events) => void calls.push(events.length));

    await work([
      message(encode("message.due", aHint())),
      message(encode("message.due", aHint()), { traceparent: Buffer.from(parent) }),
    ]);

    expect(calls).toEqual([2]);
  });
});

function working<T extends Topic>(
  topic: T,
  handle: Handler<T>,
  given: { park?: (unreadable: Unreadable) => Promise<void>; trace?: Trace } = {},
) {
  const clock = virtualClock();
  const parked: Unreadable[] = [];
  const over = new AbortController();
  const work = handOver({
    topic,
    kafkaTopic: `prefix.${topic}`,
    group: "group",
    handle,
    park: given.park ?? (async (unreadable) => void parked.push(unreadable)),
    clock,
    log: recordingLog(),
    counts: newCounts(),
    trace: given.trace,
  });
  return {
    work: (messages: readonly KafkaMessage[]) => work(messages, 3, over.signal),
    clock,
    parked,
    end: () => over.abort(),
  };
}

const message = (value: Buffer, headers: Record<string, Buffer> = {}): KafkaMessage => ({
  key: null,
  value,
  timestamp: "0",
  attributes: 0,
  offset: "5",
  headers,
});
