/**
 * The filters that all lists of messages share (docs/design/wire#lists-and-cursors): a filter matches any of its
 * values, and all filters must match.
 */
import { isFault, type LiveFilter, type MessageFilter, messageId } from "@posthaste/domain";
import { field, type Fields, place, shownFields, times } from "./fields.ts";
import {
  addressValue,
  nameValue,
  type QueryValues,
  several,
  severalOf,
  severalUrls,
  type ValueForm,
} from "./query-values.ts";

const ofForm = (form: ValueForm) => (values: QueryValues, names: readonly string[]) =>
  severalOf(form, values, names);

export const liveFields: Fields<LiveFilter> = {
  urls: field(["url"], severalUrls),
  groups: field(["topicName"], ofForm(nameValue)),
  scheduleIds: field(["scheduleId"], ofForm(nameValue)),
  queueNames: field(["queueName"], ofForm(nameValue)),
  labels: field(["label"], several),
  flowControlKeys: field(["flowControlKey"], several),
  callerIps: field(["callerIp", "callerIP"], ofForm(addressValue)),
  ...place,
  ...times,
};

const { hosts: _hosts, paths: _paths, ...common } = liveFields;

export const messageFields: Fields<MessageFilter> = {
  messageIds: field(["messageId", "messageIds"], (values, names) => {
    const ids = several(values, names);
    return ids === undefined || isFault(ids) ? ids : ids.map(messageId);
  }),
  ...common,
};

/** Returns a filter of live messages under the names that a caller would use. */
export const filterJson = (filter: LiveFilter) => shownFields(liveFields, filter);
