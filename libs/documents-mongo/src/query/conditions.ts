/** What a caller's filter asks of the documents. Each list: any of; between lists: all of. */
import { type MessageFilter } from "@posthaste/domain";
import { type Document } from "mongodb";

/** Of rows whose item has the message. Times are asked of the row's place. */
export const messageConditions = (filter: MessageFilter): Document =>
  anyOf({
    "item.message.id": filter.messageIds,
    "item.message.url": filter.urls,
    "item.message.origin.group.name": filter.groups,
    "item.message.origin.scheduleId": filter.scheduleIds,
    "item.message.origin.queueName": filter.queueNames,
    "item.message.origin.callerIp": filter.callerIps,
    "item.message.policy.flow.key": filter.flowControlKeys,
    "item.message.policy.labels": filter.labels,
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
