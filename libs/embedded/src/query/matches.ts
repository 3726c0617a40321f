/** Does a message answer to a filter? Each list: any of; between filters: all of. Times are the caller's to compare. */
import { type LogFilter, type MessageFilter } from "@posthaste/domain";
import { type Configuration } from "../messages/configurations.ts";

export function matchesMessage(filter: MessageFilter, message: Configuration): boolean {
  const { origin, policy } = message;
  return (
    among(filter.messageIds, message.id) &&
    among(filter.urls, message.url) &&
    among(filter.groups, origin.group?.name) &&
    among(filter.scheduleIds, origin.scheduleId) &&
    among(filter.queueNames, origin.queueName) &&
    among(filter.flowControlKeys, policy.flow?.key) &&
    among(filter.callerIps, origin.callerIp) &&
    (filter.labels === undefined || policy.labels.some((label) => among(filter.labels, label)))
  );
}

/** Hosts with or without their port; paths without the query. */
export function matchesPlace({ hosts, paths }: LogFilter, message: Configuration): boolean {
  if (hosts === undefined && paths === undefined) return true;
  const url = URL.parse(message.url);
  if (!url) return false;
  return (among(hosts, url.host) || among(hosts, url.hostname)) && among(paths, url.pathname);
}

export const among = <T>(wanted: readonly T[] | undefined, value: T | undefined): boolean =>
  wanted === undefined || (value !== undefined && wanted.includes(value));
