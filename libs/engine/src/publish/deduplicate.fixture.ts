/** Publishes with a deduplication id, and ports that record or change what becomes of them. */
import { isFault, type MessageId, type PublishCommand } from "@posthaste/domain";
import { type FanOuts, type Records, type TokenStore } from "@posthaste/ports";
import { aCommand, aKey } from "@posthaste/testing";
import { childrenIn, type Ports } from "../opened.fixture.ts";
import { type Published } from "./accept.ts";
import { publish } from "./intake.ts";

export const once = (id = "a"): PublishCommand =>
  aCommand({ deduplication: { kind: "explicit", id } });
export const toGroup = (id = "a"): PublishCommand => ({
  ...once(id),
  destination: { kind: "group", name: "g" },
});

export async function publishOnce(ports: Ports, command = once()): Promise<Published> {
  const answer = await publish(ports, command);
  if (isFault(answer) || !("messageId" in answer)) throw new Error("one publish, one answer");
  return answer;
}

export async function publishToGroup(
  ports: Ports,
  command = toGroup(),
): Promise<readonly Published[]> {
  const answer = await publish(ports, command);
  if (isFault(answer) || "messageId" in answer)
    throw new Error("a group publish has one answer per endpoint");
  return childrenIn(ports, answer);
}

export const withTokens = (ports: Ports, tokens: Partial<TokenStore>): Ports => ({
  ...ports,
  tokens: { ...ports.tokens, ...tokens },
});

export function counting(ports: Ports): { ports: Ports; inserted: MessageId[] } {
  const inserted: MessageId[] = [];
  const insert: Records["insert"] = (inserts, intake) => {
    inserted.push(...inserts.map(({ record }) => record.message.id));
    return ports.records.insert(inserts, intake);
  };
  const insertFanOut: FanOuts["insert"] = (fanOut, ...rest) => {
    inserted.push(fanOut.id);
    return ports.fanOuts.insert(fanOut, ...rest);
  };
  const records = { ...ports.records, insert };
  const fanOuts = { ...ports.fanOuts, insert: insertFanOut };
  return { ports: { ...ports, records, fanOuts }, inserted };
}

/** Makes a publish that claims its key and then dies. Returns its id. */
export async function claimAndDie(ports: Ports, id = "a"): Promise<MessageId> {
  const messageId = ports.ids.next();
  await ports.tokens.claim([{ key: aKey(id), id: messageId }]);
  return messageId;
}
