/** Does a message answer to a filter? Each list: any of; between filters: all of. Times are the caller's to compare. */
import { type LogEvent } from "../message/log.ts";
import { type Message } from "../message/message.ts";
import { type LiveFilter, type LogFilter, type MessageFilter } from "./filter.ts";

type Configuration = Pick<Message, "id" | "url" | "origin" | "policy">;
type Live = Configuration & Pick<Message, "createdAt" | "run">;

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
export function matchesPlace(
  { hosts, paths }: Pick<LogFilter, "hosts" | "paths">,
  { url }: Pick<Message, "url">,
): boolean {
  if (hosts === undefined && paths === undefined) return true;
  const place = placeOfUrl(url);
  return hosts?.some((host) => place.hosts.includes(host)) !== false && among(paths, place.path);
}

/** As filters ask for it. */
export function placeOfUrl(text: string): {
  readonly hosts: readonly string[];
  readonly path: string | undefined;
} {
  const url = URL.parse(text);
  return { hosts: url ? [...new Set([url.host, url.hostname])] : [], path: url?.pathname };
}

/** An event of the log: by its message, its state and its time. */
export function matchesLogged(filter: LogFilter, event: LogEvent, message: Configuration): boolean {
  const { from = -Infinity, to = Infinity, states } = filter;
  return (
    among(states, event.state) &&
    event.at >= from &&
    event.at <= to &&
    matchesMessage(filter, message) &&
    matchesPlace(filter, message)
  );
}

/** Times included. The messages of a run are its own: each of them carries it. */
export function matchesLive(filter: LiveFilter, message: Live): boolean {
  const { from = -Infinity, to = Infinity } = filter;
  if (message.run) return false;
  if (message.createdAt < from || message.createdAt > to) return false;
  return matchesMessage(filter, message) && matchesPlace(filter, message);
}

export const among = <T>(wanted: readonly T[] | undefined, value: T | undefined): boolean =>
  wanted === undefined || (value !== undefined && wanted.includes(value));
