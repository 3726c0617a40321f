/** What a publish answers: for a URL one result, for a URL group an array with one per endpoint, in order (protocol/qstash.md §1.1). */
import { type MessageId } from "@posthaste/domain";
import { type JsonOf, type publishResultSchema } from "./schemas.ts";

export type PublishResultJson = JsonOf<typeof publishResultSchema>;

/** `deduplicated`: `id` is the earlier message's. */
export type Published = {
  readonly id: MessageId;
  readonly url: string;
  readonly deduplicated: boolean;
};

export const publishResultJson = ({ id, url, deduplicated }: Published): PublishResultJson => ({
  messageId: id,
  url,
  ...(deduplicated && { deduplicated }),
});

/** 202 for a URL's duplicate; 200 otherwise, since a group may hold both. */
export const publishStatus = (results: readonly Published[]): 200 | 202 =>
  results.length > 0 && results.every(({ deduplicated }) => deduplicated) ? 202 : 200;
