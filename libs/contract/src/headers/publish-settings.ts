/** The headers that a message has and a callback has not. */
import { type Fault, fault } from "@posthaste/domain";
import { badName, isName } from "../wire/text.ts";
import { into } from "./request-settings.ts";
import { type Field, type PublishDraft, type Setting } from "./setting.ts";
import {
  parseBoolean,
  parseHop,
  parseKey,
  parseNotBefore,
  parseRedaction,
  parseUrl,
} from "./values.ts";

export const publishSettings: readonly Setting<PublishDraft>[] = [
  {
    suffix: "Not-Before",
    rule: "Unix timestamp in seconds (UTC), with a fraction perhaps, before which the message is not delivered; wins over Delay.",
    fallback: "none",
    example: "1767225600",
    take: (field, draft) => into(parseNotBefore(field), (at) => (draft.notBefore = { field, at })),
  },
  {
    suffix: "Deduplication-Id",
    rule: "A message with the same id within 10 minutes is accepted and not sent; wins over Content-Based-Deduplication. Must not hold a colon in the Upstash- dialect.",
    fallback: "none",
    example: "order-17",
    take: (field, draft) => {
      const id = parseDeduplicationId(field);
      return into(id, (value) => (draft.deduplicationId = value));
    },
  },
  {
    suffix: "Content-Based-Deduplication",
    rule: "true or false: a hash of destination, body, Content-Type and forwarded headers is the deduplication id.",
    fallback: "false",
    example: "true",
    take: (field, draft) => into(parseBoolean(field), (value) => (draft.contentBased = value)),
  },
  {
    suffix: "Queue-Name",
    rule: "Queue that the message gets into; it is made if there is none. Its messages are delivered in their order.",
    fallback: "none",
    example: "mail",
    take: (field, draft) =>
      isName(field.value) ? void (draft.queue = field) : badName(field.name),
  },
  {
    suffix: "Callback",
    rule: "URL that is sent the destination's answer after each delivery attempt; in UTF-8, read as the destination is.",
    fallback: "none",
    example: "https://shop.example/callback",
    isUrl: true,
    take: (field, draft, bounds) =>
      into(parseUrl(field, bounds), (url) => (draft.callbackUrl = url)),
  },
  {
    suffix: "Failure-Callback",
    rule: "URL that is told once all retries are used; in UTF-8, read as the destination is.",
    fallback: "none",
    example: "https://shop.example/failed",
    isUrl: true,
    take: (field, draft, bounds) =>
      into(parseUrl(field, bounds), (url) => (draft.failureCallbackUrl = url)),
  },
  {
    suffix: "Redact-Fields",
    rule: "Comma-separated list of body, headers, header[<name>]: read as REDACTED:<SHA-256> everywhere but at the destination.",
    fallback: "none",
    example: "body,header[Authorization]",
    take: (field, draft) =>
      into(parseRedaction(field), (redaction) => (draft.redaction = redaction)),
  },
  {
    suffix: "Header-Forward",
    rule: "true: all headers of this request without a prefix are sent to the destination, except hop-by-hop ones and Authorization.",
    fallback: "false",
    example: "true",
    take: (field, draft) => into(parseBoolean(field), (value) => (draft.forwardsAll = value)),
  },
  {
    suffix: "Hop",
    rule: "Set by deliveries: how often this chain of messages has passed through here. More than 8 is refused.",
    fallback: "0",
    example: "1",
    take: (field, draft) => into(parseHop(field), (hop) => (draft.hop = hop)),
  },
];

function parseDeduplicationId(field: Field): string | Fault {
  if (field.dialect === "upstash" && field.value.includes(":")) {
    // Callers know and search for these words.
    return fault("malformed", "DeduplicationId cannot contain ':'");
  }
  return parseKey(field);
}
