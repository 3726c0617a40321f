/** What a caller's filter asks of the documents. Each list: any of; between lists: all of. */
import { type MessageFilter } from "@posthaste/domain";
import { type Document } from "mongodb";

/** Of documents that have the message `at` a field. Times are asked of the document's place. */
export const messageConditions = (filter: MessageFilter, at = "item.message"): Document =>
  anyOf({
    [`${at}.id`]: filter.messageIds,
    [`${at}.url`]: filter.urls,
    [`${at}.origin.group.name`]: filter.groups,
    [`${at}.origin.scheduleId`]: filter.scheduleIds,
    [`${at}.origin.queueName`]: filter.queueNames,
    [`${at}.origin.callerIp`]: filter.callerIps,
    [`${at}.policy.flow.key`]: filter.flowControlKeys,
    [`${at}.policy.labels`]: filter.labels,
  });

/** A field that is an array answers with any of its values; a list that is absent asks nothing, an empty one nothing answers. */
export const anyOf = (
  lists: Readonly<Record<string, readonly (string | number | null)[] | undefined>>,
): Document =>
  Object.fromEntries(
    Object.entries(lists).flatMap(([field, values]) =>
      values === undefined ? [] : [[field, { $in: values }]],
    ),
  );
