import { describe, expect, it } from "@jest/globals";
import { defaultPlan, isFault, type MessageId, type PublishCommand } from "@posthaste/domain";
import { type MessageStore, StoreError, type TokenStore } from "@posthaste/ports";
import { aCommand, aKey, anEndpoint, anotherTenant, aTenant } from "@posthaste/testing";
import { type Published } from "./accept.ts";
import { listen, open, type Ports, read, rest } from "./opened.fixture.ts";
import { publish } from "./publish.ts";
import { addToGroup } from "./url-groups.ts";

const once = (id = "a"): PublishCommand => aCommand({ deduplication: { kind: "explicit", id } });
const toGroup = (id = "a"): PublishCommand => ({
  ...once(id),
  destination: { kind: "group", name: "g" },
});

async function publishOnce(ports: Ports, command = once()): Promise<Published> {
  const answer = await publish(ports, command);
  if (isFault(answer) || !("messageId" in answer)) throw new Error("one publish, one answer");
  return answer;
}

async function publishToGroup(ports: Ports, command = toGroup()): Promise<readonly Published[]> {
  const answer = await publish(ports, command);
  if (isFault(answer) || "messageId" in answer)
    throw new Error("a group publish has one answer per endpoint");
  return answer;
}

const withTokens = (ports: Ports, tokens: Partial<TokenStore>): Ports => ({
  ...ports,
  tokens: { ...ports.tokens, ...tokens },
});

/** Counts what is inserted. */
function counting(ports: Ports): { ports: Ports; inserted: MessageId[] } {
  const inserted: MessageId[] = [];
  const insert: MessageStore["insert"] = (inserts) => {
    inserted.push(...inserts.map(({ record }) => record.message.id));
    return ports.messages.insert(inserts);
  };
  return { ports: { ...ports, messages: { ...ports.messages, insert } }, inserted };
}

/** A publish that has claimed its key and then died. */
async function claimAndDie(ports: Ports, id = "a"): Promise<MessageId> {
  const messageId = ports.ids.next();
  await ports.tokens.claim([{ key: aKey(id), id: messageId }]);
  return messageId;
}

describe("deduplication", () => {
  it("accepts the first message with an id, and answers the next with the first id for ten minutes", async () => {
    const { ports, inserted } = counting(open());

    const first = await publishOnce(ports);
    await ports.clock.advance(599_999);
    const second = await publishOnce(ports);
    await ports.clock.advance(2);
    const third = await publishOnce(ports);

    expect(first.deduplicated).toBe(false);
    expect(second).toEqual({ ...first, deduplicated: true });
    expect(third).toMatchObject({ deduplicated: false });
    expect(inserted).toEqual([first.messageId, third.messageId]);
  });

  it("takes another id, and another tenant's same id, for another message", async () => {
    const ports = open();

    const answers = [
      await publishOnce(ports, once("a")),
      await publishOnce(ports, once("b")),
      await publishOnce(ports, { ...once("a"), tenant: anotherTenant }),
    ];

    expect(answers.map(({ deduplicated }) => deduplicated)).toEqual([false, false, false]);
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(3);
  });

  it("holds also with a store of records that knows nothing of deduplication", async () => {
    const opened = open();
    const insert: MessageStore["insert"] = (inserts) =>
      opened.messages.insert(inserts.map(({ record }) => ({ record })));
    const ports = { ...opened, messages: { ...opened.messages, insert } };

    const first = await publishOnce(ports);

    expect(await publishOnce(ports)).toEqual({ ...first, deduplicated: true });
  });

  it("waits a second for a publish that is under way, and then takes over with its id", async () => {
    const { ports, inserted } = counting(open());
    const dead = await claimAndDie(ports);
    let answered = false;

    const publishing = publishOnce(ports).finally(() => (answered = true));
    await ports.clock.advance(999);
    expect({ answered, inserted }).toEqual({ answered: false, inserted: [] });
    await ports.clock.advance(1);

    expect(await publishing).toMatchObject({ messageId: dead, deduplicated: false });
    expect(inserted).toEqual([dead]);
    expect(await publishOnce(ports)).toMatchObject({ messageId: dead, deduplicated: true });
  });

  it("answers with the first id when the publish under way is accepted meanwhile", async () => {
    const ports = open();
    const first = await claimAndDie(ports);

    const publishing = publishOnce(ports);
    await rest(ports);
    await ports.tokens.confirm([{ key: aKey("a"), id: first }]);
    await ports.clock.advance(1_000);

    expect(await publishing).toMatchObject({ messageId: first, deduplicated: true });
  });

  it("makes one message of two publishes of which the second took over while the first was still inserting", async () => {
    const ports = open();
    const heard = await listen(ports);
    const slow: MessageStore["insert"] = async (inserts) => {
      await new Promise<void>((resolve) => ports.clock.after(5_000, resolve));
      return ports.messages.insert(inserts);
    };

    const first = publishOnce({ ...ports, messages: { ...ports.messages, insert: slow } });
    const second = publishOnce(ports);
    await ports.clock.advance(6_000);

    const answers = await Promise.all([first, second]);
    expect(answers[0].messageId).toBe(answers[1].messageId);
    expect(answers.map(({ deduplicated }) => deduplicated).toSorted()).toEqual([false, true]);
    expect(heard.due).toHaveLength(1);
  });

  it("answers outcome_unknown and inserts nothing when the claim took longer than 20 s", async () => {
    const { ports, inserted } = counting(open());
    const claim: TokenStore["claim"] = async (entries) => {
      const windows = await ports.tokens.claim(entries);
      await new Promise<void>((resolve) => ports.clock.after(20_001, resolve));
      return windows;
    };

    const publishing = publish(withTokens(ports, { claim }), once());
    await ports.clock.advance(20_001);

    expect(await publishing).toMatchObject({ fault: "outcome_unknown" });
    expect(inserted).toEqual([]);
  });

  it("is refused as unavailable while the token store is away, and inserts nothing; other publishes go on", async () => {
    const { ports: counted, inserted } = counting(open());
    const ports = withTokens(counted, {
      claim: () => Promise.reject(new StoreError("unavailable", "the token store is away")),
    });

    const refused = publish(ports, once());

    await expect(refused).rejects.toMatchObject({ name: "StoreError", code: "unavailable" });
    expect(inserted).toEqual([]);
    const plain = await publishOnce(ports, aCommand());
    expect(inserted).toEqual([plain.messageId]);
  });

  it("can be repeated with the same id after the store has failed, and yields the same message", async () => {
    const ports = open();
    const insert: MessageStore["insert"] = async (inserts) => {
      await ports.messages.insert(inserts.map(({ record }) => ({ record })));
      throw new StoreError("unavailable", "the answer was lost");
    };

    const lost = publishOnce({ ...ports, messages: { ...ports.messages, insert } });
    await expect(lost).rejects.toMatchObject({ code: "unavailable" });
    const again = publishOnce(ports);
    await ports.clock.advance(1_000);

    const { messageId, deduplicated } = await again;
    expect(deduplicated).toBe(true);
    expect(await read(ports, { id: messageId, tenant: aTenant })).toBeDefined();
  });
});

describe("deduplication of a group publish", () => {
  const plan = defaultPlan;

  it("finds each endpoint new or a duplicate on its own", async () => {
    const ports = open();
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(0), anEndpoint(1)], plan);
    const first = await publishToGroup(ports);
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(2)], plan);

    const second = await publishToGroup(ports);

    expect(second.map(({ deduplicated }) => deduplicated)).toEqual([true, true, false]);
    expect(second.slice(0, 2).map(({ messageId }) => messageId)).toEqual(
      first.map(({ messageId }) => messageId),
    );
  });

  it("makes no parent when all endpoints are duplicates", async () => {
    const { ports, inserted } = counting(open());
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(0), anEndpoint(1)], plan);
    await publishToGroup(ports);

    const second = await publishToGroup(ports);

    expect(second.every(({ deduplicated }) => deduplicated)).toBe(true);
    expect(inserted).toHaveLength(1);
  });

  it("has to be repeated when another publish of it stays under way, since only that one knows its parent", async () => {
    const { ports, inserted } = counting(open());
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(0)], plan);
    const insert: MessageStore["insert"] = () => new Promise(() => undefined);
    void publish({ ...ports, messages: { ...ports.messages, insert } }, toGroup());
    await rest(ports);

    const publishing = publish(ports, toGroup());
    await ports.clock.advance(1_000);

    expect(await publishing).toMatchObject({ fault: "outcome_unknown" });
    expect(inserted).toEqual([]);
    const later = ports.clock.advance(30_000).then(() => publishToGroup(ports));
    expect((await later).map(({ deduplicated }) => deduplicated)).toEqual([false]);
  });

  it("is a different message from the same deduplication id to a URL or to another group", async () => {
    const ports = open();
    await addToGroup(ports.groups, aTenant, "g", [anEndpoint(0)], plan);
    await addToGroup(ports.groups, aTenant, "h", [anEndpoint(0)], plan);

    await publishOnce(ports);
    await publishToGroup(ports);
    const [other] = await publishToGroup(ports, {
      ...toGroup(),
      destination: { kind: "group", name: "h" },
    });

    expect(other?.deduplicated).toBe(false);
  });
});
