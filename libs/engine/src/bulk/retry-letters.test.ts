import { describe, expect, it } from "@jest/globals";
import {
  type DeadLetter,
  defaultPlan,
  dlqId,
  dlqIdOf,
  fault,
  idOfRetriedLetter,
  type MessageId,
  messageId,
  type Overrides,
  positionOf,
  queueId,
  type Redaction,
  tenantId,
} from "@posthaste/domain";
import {
  aCallbackPlan,
  aMessage,
  anAnswer,
  aPolicy,
  aTenant,
  type MessageOverrides,
} from "@posthaste/testing";
import { listen, open, type Ports } from "../opened.fixture.ts";
import { retryLetters } from "./retry-letters.ts";

const tenant = { id: aTenant, plan: defaultPlan };
const unchanged = { overrides: { headers: [], policy: {} }, refuse: () => undefined } as const;
const changed = (overrides: Partial<Overrides>) => ({
  ...unchanged,
  overrides: { ...unchanged.overrides, ...overrides },
});

async function aLetter(ports: Ports, overrides: MessageOverrides = {}): Promise<DeadLetter> {
  const failedAt = ports.clock.now();
  const message = aMessage({ id: ports.ids.next(), now: failedAt, ...overrides });
  const letter: DeadLetter = {
    id: dlqIdOf(message.id, failedAt),
    failedAt,
    reason: "retries_exhausted",
    message,
    retried: 3,
    response: anAnswer(500),
  };
  await ports.deadLetters.insert([letter]);
  return letter;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const retryIdOf = ({ ids, sha256 }: Ports, { id, failedAt }: DeadLetter): MessageId =>
  idOfRetriedLetter(aTenant, id, ids.positionAt(failedAt), sha256);

const lettersOf = async ({ deadLetters }: Ports) =>
  (await deadLetters.list(aTenant, {}, { limit: 100, order: "earliestFirst" })).items;

async function recordsOf({ records }: Ports, made: unknown) {
  return records.get(aTenant, made as readonly MessageId[]);
}

describe("a retried dead letter", () => {
  it("is a new message with all that was stored, due at once and announced, and goes", async () => {
    const ports = open();
    const { due } = await listen(ports);
    const { id, message } = await aLetter(ports, { body: new TextEncoder().encode("body") });
    await ports.clock.advance(60_000);

    const made = await retryLetters(ports, tenant, [id], unchanged);

    const [record] = await recordsOf(ports, made);
    expect(record?.message).toEqual({
      ...message,
      id: record?.message.id,
      shard: record?.message.shard,
      createdAt: ports.clock.now(),
      notBefore: ports.clock.now(),
      origin: { ...message.origin, retryOf: { message: message.id, letter: id } },
    });
    expect(record?.message.id).not.toBe(message.id);
    expect([record?.state.kind, record?.retried]).toEqual(["due", 0]);
    expect(due.map((hint) => hint.id)).toEqual(made);
    expect(await lettersOf(ports)).toEqual([]);
  });

  it("has an id that sorts with those made when it failed", async () => {
    const ports = open();
    const before = ports.ids.next();
    await ports.clock.advance(1);
    const { id } = await aLetter(ports);
    await ports.clock.advance(1);
    const after = ports.ids.next();

    const made = await retryLetters(ports, tenant, [id], unchanged);

    expect([before, ...(made as readonly string[]), after].toSorted()).toEqual([
      before,
      ...(made as readonly string[]),
      after,
    ]);
    expect(positionOf(before)).toBeDefined();
  });

  it("is one message, however often a retry is repeated that was killed before the letter went (E1)", async () => {
    const ports = open();
    const letter = await aLetter(ports);
    const killed = { ...ports, deadLetters: { ...ports.deadLetters, remove: killedNow } };
    await expect(retryLetters(killed, tenant, [letter.id], unchanged)).rejects.toThrow("killed");

    const made = await retryLetters(ports, tenant, [letter.id], unchanged);

    expect(await ports.records.backlog(aTenant)).toBe(1);
    expect(await recordsOf(ports, made)).toHaveLength(1);
    expect(await lettersOf(ports)).toEqual([]);
  });

  it("is retried beside those of its filter that another call has taken since they were found", async () => {
    const ports = open();
    const [taken, letter] = [await aLetter(ports), await aLetter(ports)];
    await retryLetters(ports, tenant, [taken.id], unchanged);

    const made = await retryLetters(ports, tenant, [taken.id, letter.id], unchanged, []);

    expect(made).toEqual([retryIdOf(ports, letter)]);
    expect(await lettersOf(ports)).toEqual([]);
  });

  it("stays when its message could not be stored (E2)", async () => {
    const ports = open();
    const letter = await aLetter(ports);
    const full = { ...ports, records: { ...ports.records, insert: killedNow } };

    await expect(retryLetters(full, tenant, [letter.id], unchanged)).rejects.toThrow("killed");

    expect(await lettersOf(ports)).toHaveLength(1);
  });

  it("is changed only by the settings that the request names", async () => {
    const ports = open();
    const { id, message } = await aLetter(ports, {
      headers: [
        ["X-Old", "1"],
        ["x-kept", "2"],
      ],
    });
    const overrides = changed({
      method: "PUT",
      headers: [["x-old", "3"]],
      policy: { retriesMax: 7 },
      postponement: { kind: "delay", delayMs: 5_000 },
    });

    const [record] = await recordsOf(ports, await retryLetters(ports, tenant, [id], overrides));

    expect(record?.message).toMatchObject({
      method: "PUT",
      headers: [
        ["x-kept", "2"],
        ["x-old", "3"],
      ],
      policy: { ...message.policy, retriesMax: 7 },
      notBefore: ports.clock.now() + 5_000,
    });
    expect(record?.state.kind).toBe("held");
  });

  it.each<[Redaction | undefined, Redaction, Redaction]>([
    [
      { body: true, headers: ["a"] },
      { body: false, headers: ["b"] },
      { body: true, headers: ["a", "b"] },
    ],
    [
      { body: false, headers: "all" },
      { body: true, headers: ["b"] },
      { body: true, headers: "all" },
    ],
    [undefined, { body: true, headers: [] }, { body: true, headers: [] }],
  ])("hides what was redacted, whatever the request redacts: %j and %j", async (was, asked, is) => {
    const ports = open();
    const policy = was && { policy: aPolicy({ redaction: was }) };
    const letter = await aLetter(ports, policy);

    const made = await retryLetters(
      ports,
      tenant,
      [letter.id],
      changed({ policy: { redaction: asked } }),
    );

    const [record] = await recordsOf(ports, made);
    expect(record?.message.policy.redaction).toEqual(is);
  });

  it("has the body of the request, where that has one", async () => {
    const ports = open();
    const { id, message } = await aLetter(ports, { body: bytes("stored") });

    const made = await retryLetters(ports, tenant, [id], changed({ body: bytes("edited") }));

    const [record] = await recordsOf(ports, made);
    expect(record?.message).toMatchObject({ body: bytes("edited"), headers: message.headers });
    expect(await lettersOf(ports)).toEqual([]);
  });

  it("of another body is refused where a retry before it has made the message", async () => {
    const ports = open();
    const letter = await aLetter(ports, { body: bytes("stored") });
    const killed = { ...ports, deadLetters: { ...ports.deadLetters, remove: killedNow } };
    const first = changed({ body: bytes("first") });
    await expect(retryLetters(killed, tenant, [letter.id], first)).rejects.toThrow("killed");

    const second = changed({ body: bytes("second") });
    const refused = await retryLetters(ports, tenant, [letter.id], second);

    const made = retryIdOf(ports, letter);
    const [record] = await recordsOf(ports, [made]);
    expect(record?.message.body).toEqual(bytes("first"));
    expect(refused).toEqual(
      fault(
        "conflict",
        `dead letter ${letter.id} was retried already, as ${made}, without the body of this request`,
      ),
    );
    expect(await ports.records.backlog(aTenant)).toBe(1);
    expect(await lettersOf(ports)).toEqual([]);
  });

  it("that fails again is retried as another message, which names that failure", async () => {
    const ports = open();
    const [{ id: first }] = [await aLetter(ports)];
    const [record] = await recordsOf(ports, await retryLetters(ports, tenant, [first], unchanged));
    await ports.clock.advance(1);
    const { message } = record ?? {};
    const again = await aLetter(ports, message && { id: message.id, origin: message.origin });

    const made = await retryLetters(ports, tenant, [again.id], unchanged);

    const [second] = await recordsOf(ports, made);
    expect(second?.message.id).not.toBe(message?.id);
    expect(second?.message.origin.retryOf).toEqual({ message: message?.id, letter: again.id });
  });

  it("waits in the line of its flow key", async () => {
    const ports = open();
    const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };
    const { id } = await aLetter(ports);

    const [record] = await recordsOf(
      ports,
      await retryLetters(ports, tenant, [id], changed({ flow })),
    );

    expect(record?.state).toEqual({ kind: "waiting", flow: record?.message.flow });
  });

  it("goes to the end of its queue", async () => {
    const ports = open();
    const queue = queueId(aTenant, "orders");
    const { id } = await aLetter(ports, {
      queue,
      format: 2,
      origin: { callerIp: "192.0.2.1", hop: 1, queueName: "orders" },
    });

    const [record] = await recordsOf(ports, await retryLetters(ports, tenant, [id], unchanged));

    expect(record?.state).toEqual({ kind: "queued", queue });
  });

  it("makes its queue anew within the plan, and stays a dead letter if the plan allows no more queues", async () => {
    const ports = open();
    const origin = { callerIp: "192.0.2.1", hop: 1, queueName: "orders" };
    const { id } = await aLetter(ports, { queue: queueId(aTenant, "orders"), format: 2, origin });
    const full = { ...tenant, plan: { ...defaultPlan, queuesMax: 1 } };
    await ports.queues.make(aTenant, ["another"], 1);

    const refused = await retryLetters(ports, full, [id], unchanged);
    const elsewhere = await aLetter(ports);
    const beside = await retryLetters(ports, full, [elsewhere.id], unchanged, [id]);

    expect(refused).toEqual(fault("beyond_plan", "quota maxQueues exceeded, current limit: 1"));
    expect(beside).toHaveLength(1);
    expect(await lettersOf(ports)).toMatchObject([{ id }]);
    expect(await ports.queues.get(aTenant, "orders")).toBeUndefined();
    await ports.queues.end(aTenant, "another");
    expect(await retryLetters(ports, full, [id], unchanged)).toHaveLength(1);
  });

  it("of a callback is a callback still, and has none", async () => {
    const ports = open();
    const source = messageId("msg_source");
    const { id } = await aLetter(ports, {
      origin: { callerIp: "192.0.2.1", hop: 1, callbackOf: source },
    });

    const [record] = await recordsOf(ports, await retryLetters(ports, tenant, [id], unchanged));

    expect(record?.message.origin.callbackOf).toBe(source);
  });

  it("of a callback gets no callback from the headers of the request", async () => {
    const ports = open();
    const { id } = await aLetter(ports, {
      origin: { callerIp: "192.0.2.1", hop: 1, callbackOf: messageId("msg_source") },
    });
    const policy = { callback: aCallbackPlan(), failureCallback: aCallbackPlan(), retriesMax: 7 };

    const made = await retryLetters(ports, tenant, [id], changed({ policy }));

    const [record] = await recordsOf(ports, made);
    expect(record?.message.policy).not.toHaveProperty("callback");
    expect(record?.message.policy).not.toHaveProperty("failureCallback");
    expect(record?.message.policy.retriesMax).toBe(7);
  });
});

describe("a retry of many", () => {
  it("answers in the order of the ids, over as many pages as their bodies fill", async () => {
    const ports = open();
    const letters: DeadLetter[] = [];
    for (let n = 0; n < 12; n++) {
      letters.push(await aLetter(ports, { body: Buffer.alloc(4 * 1024 * 1024, n) }));
      await ports.clock.advance(1);
    }
    const ids = letters.map(({ id }) => id).toReversed();

    const made = await retryLetters(ports, tenant, ids, unchanged);

    const records = await recordsOf(ports, made);
    expect(records.map((record) => record?.message.body[0])).toEqual(
      Array.from({ length: 12 }, (_, n) => 11 - n),
    );
    expect(await lettersOf(ports)).toEqual([]);
  });

  it.each([
    ["one is not there", (ids: readonly string[]) => [...ids, "1-none"], unchanged, "not_found"],
    [
      "one may not be changed so",
      (ids: readonly string[]) => ids,
      { ...unchanged, refuse: () => fault("malformed", "no") },
      "malformed",
    ],
  ] as const)("does nothing when %s", async (_, asked, change, code) => {
    const ports = open();
    const { id } = await aLetter(ports);

    const refused = await retryLetters(ports, tenant, asked([id]) as (typeof id)[], change);

    expect(refused).toMatchObject({ fault: code });
    expect(await lettersOf(ports)).toHaveLength(1);
    expect(await ports.records.backlog(aTenant)).toBe(0);
  });

  it("does nothing when a letter that is to stay does not exist", async () => {
    const ports = open();
    const [first, second] = [await aLetter(ports), await aLetter(ports)];

    const refused = await retryLetters(ports, tenant, [first.id], unchanged, [dlqId("1-none")]);
    expect(refused).toMatchObject({ fault: "not_found" });
    expect(await lettersOf(ports)).toHaveLength(2);

    expect(await retryLetters(ports, tenant, [first.id], unchanged, [second.id])).toHaveLength(1);
    expect(await lettersOf(ports)).toMatchObject([{ id: second.id }]);
  });

  it("is listed once, however often it is named", async () => {
    const ports = open();
    const { id } = await aLetter(ports);

    expect(await retryLetters(ports, tenant, [id, id], unchanged)).toHaveLength(1);
  });

  it("finds nothing of another tenant's", async () => {
    const ports = open();
    const { id } = await aLetter(ports);

    const refused = await retryLetters(
      ports,
      { ...tenant, id: tenantId("other") },
      [id],
      unchanged,
    );

    expect(refused).toMatchObject({ fault: "not_found" });
    expect(await lettersOf(ports)).toHaveLength(1);
  });
});

const killedNow = async (): Promise<never> => {
  throw new Error("killed");
};
