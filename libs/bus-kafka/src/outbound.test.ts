/** The lines of the partitions, over a link whose answers the test gives. */
import { describe, expect, it } from "@jest/globals";
import { type VirtualClock, virtualClock } from "@posthaste/testing";
import { messageId, tenantId } from "@posthaste/domain";
import { type Message, type TopicMessages } from "kafkajs";
import { decode, encode } from "./codec.ts";
import { type Counts, newCounts } from "./counts.ts";
import { aHint } from "./events.fixture.ts";
import { factMsMax, Outbound, type OutgoingEvent } from "./outbound.ts";

describe("one send at a time for each partition", () => {
  it("events published during a send go together in the next send", async () => {
    const { outbound, way } = opened();
    outbound.hint([aSaying(0, "a")]);
    await turn();
    outbound.hint([aSaying(0, "b")]);
    outbound.hint([aSaying(0, "c")]);
    await turn();
    expect(way.sent()).toEqual(["a"]);

    await way.answer();

    expect(way.sent()).toEqual(["a", "b c"]);
  });

  it("a partition does not wait for another one's send", async () => {
    const { outbound, way } = opened();
    outbound.hint([aSaying(0, "a")]);
    await turn();

    outbound.hint([aSaying(1, "b")]);
    await turn();

    expect(way.sent()).toEqual(["a", "b"]);
  });

  it("events published in the same turn of the event loop go in one request", async () => {
    const { outbound, way } = opened();

    outbound.hint([aSaying(0, "a"), aSaying(1, "b")]);
    outbound.hint([aSaying(2, "c")]);
    await turn();

    expect(way.sent()).toEqual(["a b c"]);
  });

  it("a hint equal to one that waits for its partition is not published again", async () => {
    const { outbound, way } = opened();
    const wake = (text: string, once: string): OutgoingEvent => ({ ...aSaying(0, text), once });

    outbound.hint([wake("a", "lane"), wake("b", "lane"), wake("c", "other")]);
    await turn();
    outbound.hint([wake("d", "lane"), wake("e", "lane")]);
    await way.answer();

    expect(way.sent()).toEqual(["a c", "d"]);
  });

  it("a batch of one partition stays below the limit of a broker", async () => {
    const { outbound, way } = opened();

    outbound.hint([aSaying(0, "a", 400_000), aSaying(0, "b", 400_000), aSaying(0, "c", 10)]);
    await turn();
    expect(way.sent()).toEqual(["a"]);
    await way.answer();

    expect(way.sent()).toEqual(["a", "b c"]);
  });
});

describe("hints of one partition", () => {
  it("go in one Kafka message, and events of another trace in another", async () => {
    const { outbound, way } = opened();
    const traced = { headers: { traceparent: "00-1-2-01" } };

    outbound.hint([aHintSaid("a"), aHintSaid("b"), aHintSaid("c", traced), aHintSaid("d", traced)]);
    outbound.hint([aHintSaid("e")]);
    await turn();

    expect(way.heard()).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  });

  it("share one Kafka message up to the bound of a reader, and facts are sent one by one", async () => {
    const { outbound, way } = opened();
    const large = { bytes: 100_000 };

    outbound.hint([aHintSaid("a"), aHintSaid("b", large), aHintSaid("c", large)]);
    void outbound.fact([aSaying(0, "f")]);
    outbound.hint([aHintSaid("d")]);
    await turn();

    expect(way.heard()).toEqual([["a", "b"], ["c"], ["f"], ["d"]]);
  });

  it("are published one by one once a message of them was refused", async () => {
    const { outbound, way } = opened();
    outbound.hint([aHintSaid("a"), aHintSaid("b")]);
    await turn();

    await way.answer(aRefusal());
    await way.answer();
    await way.answer();

    expect(way.heard()).toEqual([["a", "b"], ["a"], ["b"]]);
  });
});

describe("no send is running", () => {
  it("once facts were refused, and the facts behind them acknowledged", async () => {
    const { outbound, way } = opened();
    const refused = settling(outbound.fact([aSaying(0, "a")]));
    const said = settling(outbound.fact([aSaying(0, "b")]));
    const idle = settling(outbound.idle());
    await turn();
    way.refuse("a");
    for (let times = 0; times < 4; times++) await way.answerAll();

    expect([refused.state().slice(0, 6), said.state(), idle.state()]).toEqual([
      "failed",
      "done",
      "done",
    ]);
  });

  it("once facts were given up, sent ones and waiting ones", async () => {
    const { clock, outbound, way } = opened();
    const first = settling(outbound.fact([aSaying(0, "a")]));
    await turn();
    const second = settling(outbound.fact([aSaying(0, "b")]));
    const idle = settling(outbound.idle());
    await clock.advance(factMsMax + 1_000);
    await way.answerAll();

    expect([first, second].map(({ state }) => state().slice(0, 6))).toEqual(["failed", "failed"]);
    expect(idle.state()).toBe("done");
  });
});

describe("before the bus closes", () => {
  it("hints that were published the moment before are waited for, too", async () => {
    const { outbound, way } = opened();
    outbound.hint([aSaying(0, "a")]);
    const idle = settling(outbound.idle());
    await turn();
    outbound.hint([aSaying(0, "b")]);

    await way.answer();
    expect(idle.state()).toBe("waits");
    await way.answer();

    expect(way.sent()).toEqual(["a", "b"]);
    expect(idle.state()).toBe("done");
  });

  it("nothing is waited for if nothing was published", async () => {
    const idle = settling(opened().outbound.idle());

    await turn();

    expect(idle.state()).toBe("done");
  });
});

describe("a fact", () => {
  it("counts as published when it is acknowledged, with all facts that were sent with it", async () => {
    const { outbound, way } = opened();
    const said = settling(outbound.fact([aSaying(0, "a"), aSaying(0, "b")]));
    await turn();
    expect(said.state()).toBe("waits");

    await way.answer();

    expect(said.state()).toBe("done");
  });

  it("is sent again when the send fails, before later events", async () => {
    const { outbound, way } = opened();
    const said = settling(outbound.fact([aSaying(0, "a")]));
    await turn();
    outbound.hint([aSaying(0, "b")]);

    await way.answer(new Error("connection refused"));
    expect(way.sent()).toEqual(["a", "a b"]);
    await way.answer();

    expect(said.state()).toBe("done");
  });

  it("waits while no broker is reachable, and is sent when one is", async () => {
    const { outbound, way } = opened();
    way.goDown();
    const said = settling(outbound.fact([aSaying(0, "a")]));
    await turn();
    expect(way.sent()).toEqual([]);

    way.comeUp();
    await turn();
    await way.answer();

    expect(said.state()).toBe("done");
  });

  it("is given up after ten seconds with the reason, and not sent any more", async () => {
    const { outbound, way, clock } = opened();
    const said = settling(outbound.fact([aSaying(0, "a")]));
    await turn();
    way.goDown();
    await way.answer(new Error("connection refused"));

    await clock.advance(11_000);
    expect(said.state()).toBe("failed: facts: not acknowledged within 10000 ms");
    expect(String(said.cause())).toContain("connection refused");

    way.comeUp();
    await turn();
    expect(way.sent()).toEqual(["a"]);
    expect(clock.armed).toBe(0);
  });

  it("that the broker refuses fails at once, and events sent with it do not", async () => {
    const { outbound, way } = opened();
    const [bad, good] = [
      settling(outbound.fact([aSaying(0, "bad")])),
      settling(outbound.fact([aSaying(0, "good")])),
    ];
    const elsewhere = settling(outbound.fact([aSaying(1, "elsewhere")]));
    await turn();
    way.refuse("bad");

    for (let answers = 0; answers < 10; answers++) await way.answerAll();

    expect(way.sent()[0]).toBe("bad good elsewhere");
    expect(bad.state()).toMatch(/^failed: the broker refuses an event of \d+ bytes on topic/);
    expect([good.state(), elsewhere.state()]).toEqual(["done", "done"]);
  });

  it("is refused when too much waits already", async () => {
    const { outbound, way } = opened();
    way.goDown();
    const waiting = Array.from({ length: 70 }, () =>
      settling(outbound.fact([aSaying(0, "a", 1e6)])),
    );
    await turn();

    expect(waiting[0]?.state()).toBe("waits");
    expect(waiting.at(-1)?.state()).toMatch(/^failed: \d+ bytes of facts wait/);
  });

  it("that still waits when the bus closes fails", async () => {
    const { outbound, way } = opened();
    way.goDown();
    const said = settling(outbound.fact([aSaying(0, "a")]));

    outbound.close();
    await turn();

    expect(said.state()).toBe("failed: facts: the bus is closing");
  });
});

describe("a hint", () => {
  it("is dropped while no broker is reachable", async () => {
    const { outbound, way, counts } = opened();
    way.goDown();
    outbound.hint([aSaying(0, "a")]);
    way.comeUp();

    outbound.hint([aSaying(0, "b")]);
    await turn();

    expect(way.sent()).toEqual(["b"]);
    expect(counts.hintsDropped).toBe(1);
  });

  it("is dropped while eight mebibytes wait, and later hints are taken again", async () => {
    const { outbound, way, counts } = opened();
    outbound.hint(Array.from({ length: 20 }, () => aSaying(0, "h", 1024 * 1024)));
    await turn();
    expect(counts.hintsDropped).toBe(12);

    for (let answers = 0; answers < 10; answers++) await way.answer();
    outbound.hint([aSaying(0, "z")]);
    await turn();

    expect(way.sent().at(-1)).toBe("z");
    expect(counts.events).toBe(8);
  });
});

describe("hints that have records", () => {
  const large = { bytes: 1024 * 1024 };
  const fill = (outbound: Outbound, count: number): void => {
    for (let n = 0; n < count; n++) outbound.hint([aHintSaid(`${n}`, large)]);
  };

  it("have a bound of their own, so that they displace no other hint", async () => {
    const { outbound, counts } = opened();
    fill(outbound, 40);
    expect(counts.hintsDropped).toBe(8);

    outbound.hint(Array.from({ length: 7 }, () => aSaying(1, "wake", 1024 * 1024)));

    expect(counts.hintsDropped).toBe(8);
  });

  it("take reserved bytes, which are free again when the hints are acknowledged", async () => {
    const { outbound, way } = opened();
    const before = outbound.freeRecordBytes;
    fill(outbound, 40);
    await turn();
    expect(outbound.freeRecordBytes).toBe(0);

    for (let answers = 0; answers < 40; answers++) await way.answer();
    expect(outbound.freeRecordBytes).toBe(before);
    way.goDown();

    expect(outbound.freeRecordBytes).toBe(0);
  });

  it("are counted, and so are the Kafka messages that they went in", async () => {
    const { outbound, way, counts } = opened();
    outbound.hint([aHintSaid("a"), aHintSaid("b"), aHintSaid("c")]);
    void outbound.fact([aSaying(1, "f")]);
    await turn();
    await way.answerAll();

    expect([counts.events, counts.messages]).toEqual([4, 2]);
  });
});

/** Waits a turn of the event loop, in which promises settle. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const aSaying = (partition: number, key: string, bytes = 10): OutgoingEvent => ({
  topic: "topic",
  partition,
  key,
  value: Buffer.alloc(bytes),
});

const aHintSaid = (
  id: string,
  { bytes = 1, ...rest }: Partial<OutgoingEvent> & { bytes?: number } = {},
): OutgoingEvent => ({
  ...aSaying(0, id),
  value: encode("message.due", {
    ...aHint(),
    id: messageId(id),
    tenant: tenantId("t".repeat(bytes)),
  }),
  joins: "message.due",
  ...rest,
});

function idsIn({ key, value }: Message): readonly string[] {
  const decoded = decode("message.due", value as Buffer);
  return decoded.kind === "events" ? decoded.events.map(({ id }) => id) : [String(key)];
}

type Answer = { readonly keys: readonly string[]; readonly settle: (error?: Error) => void };

type Opened = {
  readonly outbound: Outbound;
  readonly clock: VirtualClock;
  readonly counts: Counts;
  readonly way: ReturnType<typeof aWay>;
};

function opened(): Opened {
  const [clock, counts, way] = [virtualClock(), newCounts(), aWay()];
  return { outbound: new Outbound(way, clock, counts), clock, counts, way };
}

/** Returns brokers that acknowledge when the test says so. */
function aWay() {
  const listeners: (() => void)[] = [];
  const sent: string[] = [];
  const heard: (readonly string[])[] = [];
  const refused = new Set<string>();
  let open: Answer[] = [];
  let up = true;
  return {
    isUp: () => up,
    onUp: (listener: () => void) => {
      listeners.push(listener);
      return () => undefined;
    },
    send: (batch: TopicMessages[]) =>
      new Promise<void>((resolve, reject) => {
        const keys = batch.flatMap(({ messages }) => messages.map(({ key }) => String(key)));
        sent.push(keys.join(" "));
        heard.push(...batch.flatMap(({ messages }) => messages.map(idsIn)));
        open.push({ keys, settle: (error) => (error ? reject(error) : resolve()) });
      }),
    sent: () => sent,
    /** The events of each Kafka message. */
    heard: () => heard,
    goDown: () => {
      up = false;
    },
    comeUp: () => {
      up = true;
      for (const listener of listeners) listener();
    },
    refuse: (key: string) => void refused.add(key),
    /** Answers the oldest request. */
    answer: (error?: Error) => {
      open.shift()?.settle(error);
      return turn();
    },
    /** Answers every request, refusing those that contain a refused key. */
    answerAll: () => {
      const all = open;
      open = [];
      for (const { keys, settle } of all)
        settle(keys.some((key) => refused.has(key)) ? aRefusal() : undefined);
      return turn();
    },
  };
}

const aRefusal = (): Error =>
  Object.assign(new Error("the request is too large"), { type: "MESSAGE_TOO_LARGE" });

function settling(promise: Promise<void>): { state: () => string; cause: () => unknown } {
  let state = "waits";
  let cause: unknown;
  promise.then(
    () => {
      state = "done";
    },
    (error: unknown) => {
      state = `failed: ${Error.isError(error) ? error.message : String(error)}`;
      cause = Error.isError(error) ? error.cause : undefined;
    },
  );
  return { state: () => state, cause: () => cause };
}
