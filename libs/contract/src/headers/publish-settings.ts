/** The headers that only a message has, not a callback. */
import { type Fault, fault } from "@posthaste/domain";
import { badName, isName } from "../wire/text.ts";
import { type Field, made, type PublishDraft, type Setting } from "./setting.ts";
import { parseBoolean, parseHop, parseKey, parseNotBefore, parseUrl } from "./values.ts";

export const publishSettings: readonly Setting<PublishDraft>[] = [
  {
    suffix: "Not-Before",
    rule: "Unix timestamp in seconds (UTC), possibly with a fraction, before which the message is not delivered; overrides Delay.",
    fallback: "none",
    example: "1767225600",
    key: "notBefore",
    read: (field) => made(parseNotBefore(field), (at) => ({ field, at })),
    retry: "changes",
  },
  {
    suffix: "Deduplication-Id",
    rule: "A message with the same id within 10 minutes is accepted and not sent; overrides Content-Based-Deduplication. Must not contain a colon in the Upstash- dialect.",
    fallback: "none",
    example: "order-17",
    key: "deduplicationId",
    read: parseDeduplicationId,
    retry: "refused",
  },
  {
    suffix: "Content-Based-Deduplication",
    rule: "true or false: a hash of destination, body, Content-Type and forwarded headers is the deduplication id.",
    fallback: "false",
    example: "true",
    key: "contentBased",
    read: parseBoolean,
    retry: "refused",
  },
  {
    suffix: "Callback",
    rule: "URL to which the destination's answer is sent after each attempt; in UTF-8, by the same rules as the destination.",
    fallback: "none",
    example: "https://shop.example/callback",
    isUrl: true,
    key: "callbackUrl",
    read: parseUrl,
    retry: "changes",
  },
  {
    suffix: "Failure-Callback",
    rule: "URL that is called once all retries are used; in UTF-8, by the same rules as the destination.",
    fallback: "none",
    example: "https://shop.example/failed",
    isUrl: true,
    key: "failureCallbackUrl",
    read: parseUrl,
    retry: "changes",
  },
  {
    suffix: "Header-Forward",
    rule: "true: all headers of this request without a prefix are sent to the destination, except hop-by-hop ones and Authorization.",
    fallback: "false",
    example: "true",
    key: "forwardsAll",
    read: parseBoolean,
    retry: "refused",
  },
  {
    suffix: "Queue-Name",
    rule: "Queue that the message joins, which is made if it does not exist. Messages of a queue are delivered in order.",
    fallback: "none",
    example: "mail",
    key: "queue",
    read: (field) => (isName(field.value) ? field : badName(field.name)),
    retry: "refused",
  },
  {
    suffix: "Hop",
    rule: "Set by deliveries: how often this chain of messages has passed through this service. More than 8 is refused.",
    fallback: "0",
    example: "1",
    key: "hop",
    read: parseHop,
    retry: "passed",
  },
];

function parseDeduplicationId(field: Field): string | Fault {
  if (field.dialect === "upstash" && field.value.includes(":")) {
    // Callers know and search for these words.
    return fault("malformed", "DeduplicationId cannot contain ':'");
  }
  return parseKey(field);
}
