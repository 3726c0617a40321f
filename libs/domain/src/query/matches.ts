/** Reports whether a message matches a filter. A list matches any of its values; all filters that are given must match. */
import { type DeadLetter } from "../message/dead-letter.ts";
import { type LogEvent } from "../message/log.ts";
import { type Message } from "../message/message.ts";
import { type Answer } from "../message/outcome.ts";
import {
  type DeadLetterFilter,
  type LiveFilter,
  type LogFilter,
  type MessageFilter,
} from "./filter.ts";
import { holds, type Terms } from "./terms.ts";

type Asked = Pick<Message, "id" | "url" | "origin" | "policy">;
type Live = Asked & Pick<Message, "createdAt" | "run">;
type Logged = { readonly event: LogEvent; readonly message: Asked };
type Letter = Pick<DeadLetter, "id" | "failedAt"> & {
  readonly message: Asked;
  readonly response?: Pick<Answer, "status"> | undefined;
};

export const matchesLogged = (filter: LogFilter, event: LogEvent, message: Asked): boolean =>
  holds(logTerms, filter, { event, message });

export const matchesLetter = (filter: DeadLetterFilter, letter: Letter): boolean =>
  holds(letterTerms, filter, letter);

/** Messages of a run never match: they are cancelled with their run. */
export const matchesLive = (filter: LiveFilter, message: Live): boolean =>
  !message.run && holds(liveTerms, filter, { message });

const ofConfiguration: Terms<
  Omit<MessageFilter, "messageIds" | "from" | "to">,
  { readonly message: Asked }
> = {
  urls: (urls, { message }) => urls.includes(message.url),
  groups: (groups, { message: { origin } }) => among(groups, origin.group?.name),
  scheduleIds: (ids, { message: { origin } }) => among(ids, origin.scheduleId),
  queueNames: (names, { message: { origin } }) => among(names, origin.queueName),
  callerIps: (addresses, { message: { origin } }) => addresses.includes(origin.callerIp),
  flowControlKeys: (keys, { message: { policy } }) => among(keys, policy.flow?.key),
  labels: (labels, { message: { policy } }) => policy.labels.some((each) => labels.includes(each)),
};

const ofMessage: Terms<Omit<MessageFilter, "from" | "to">, { readonly message: Asked }> = {
  ...ofConfiguration,
  messageIds: (ids, { message }) => ids.includes(message.id),
};

const ofPlace: Terms<Pick<LogFilter, "hosts" | "paths">, { readonly message: Asked }> = {
  hosts: (hosts, { message }) => isAtHost(hosts, message.url),
  paths: (paths, { message }) => isAtPath(paths, message.url),
};

const liveTerms: Terms<LiveFilter, { readonly message: Live }> = {
  ...ofConfiguration,
  ...ofPlace,
  from: (from, { message }) => message.createdAt >= from,
  to: (to, { message }) => message.createdAt <= to,
};

const logTerms: Terms<LogFilter, Logged> = {
  ...ofMessage,
  ...ofPlace,
  states: (states, { event }) => states.includes(event.state),
  from: (from, { event }) => event.at >= from,
  to: (to, { event }) => event.at <= to,
};

const letterTerms: Terms<DeadLetterFilter, Letter> = {
  ...ofMessage,
  ids: (ids, { id }) => ids.includes(id),
  // 0 means no answer (docs/design/wire#dead-letters).
  responseStatuses: (statuses, { response }) => statuses.includes(response?.status ?? 0),
  from: (from, { failedAt }) => failedAt >= from,
  to: (to, { failedAt }) => failedAt <= to,
};

/** Reports whether the host matches. `hosts` may name a port or none. */
export const isAtHost = (hosts: readonly string[], url: string): boolean =>
  placeOfUrl(url).hosts.some((host) => hosts.includes(host));

/** Compares the path without the query. */
export const isAtPath = (paths: readonly string[], url: string): boolean =>
  among(paths, placeOfUrl(url).path);

/** Returns the hosts, with and without the port, and the path by which filters find a URL. */
export function placeOfUrl(text: string): {
  readonly hosts: readonly string[];
  readonly path: string | undefined;
} {
  const url = URL.parse(text);
  return { hosts: url ? [...new Set([url.host, url.hostname])] : [], path: url?.pathname };
}

export const among = <T>(wanted: readonly T[], value: T | undefined): boolean =>
  value !== undefined && wanted.includes(value);
