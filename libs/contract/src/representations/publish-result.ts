/** What a publish answers: for a URL one result, for a URL group an array with one per endpoint, in order (protocol/qstash.md §1.1). */
import { type MessageId } from "@posthaste/domain";
import { type JsonOf, type publishResultSchema } from "./schemas.ts";

export type PublishResultJson = JsonOf<typeof publishResultSchema>;

export type PublishResult = {
  /** The earlier message's, when this one is its duplicate. */
  readonly messageId: MessageId;
  readonly url: string;
  readonly deduplicated: boolean;
};

export const publishResultJson = ({
  messageId,
  url,
  deduplicated,
}: PublishResult): PublishResultJson => ({
  messageId,
  url,
  ...(deduplicated && { deduplicated }),
});
