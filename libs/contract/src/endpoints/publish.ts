/** Publishing: one result for a URL, and for a URL group an array with one per endpoint, in order (docs/design/wire#url-groups). */
import { type MessageId } from "@posthaste/domain";
import * as z from "zod";
import { type RawTarget } from "./raw-target.ts";

export const publishResultSchema = z
  .object({
    messageId: z.string(),
    url: z.string().optional(),
    deduplicated: z
      .literal(true)
      .optional()
      .describe(
        "The message is a duplicate and was not sent; messageId is that of the earlier message",
      ),
  })
  .meta({ id: "PublishResult" });

export type PublishResult = {
  /** The id of the earlier message, if this message is its duplicate. */
  readonly messageId: MessageId;
  readonly url: string;
  readonly deduplicated: boolean;
};

export const publish = {
  operation: "publish",
  kind: "publish",
  prefix: "/v2/publish",
  names: [],
  summary:
    "Publish a message to a URL, which is appended unchanged, or to a URL group, which makes one message for each endpoint",
  answers: {
    200: {
      says: "Accepted and durable. For a URL group an array, one element for each endpoint in order",
      schema: z.union([publishResultSchema, z.array(publishResultSchema)]),
    },
    202: {
      says: "A duplicate: accepted, not sent. In an array, each element says whether it is a duplicate",
      schema: publishResultSchema,
    },
  },
  faults: ["forbidden", "not_found", "beyond_plan", "too_large", "outcome_unknown", "disk_full"],
} as const satisfies RawTarget;

/** Writes `publishResultSchema` by hand, since every message uses this. */
export const publishResultText = ({ messageId, url, deduplicated }: PublishResult): string =>
  `{"messageId":"${messageId}","url":${JSON.stringify(url)}${deduplicated ? ',"deduplicated":true' : ""}}`;
