export {
  type EndpointJudges,
  type EndpointSelector,
  parseRemoveEndpoints,
  parseUpsertEndpoints,
} from "./bodies/endpoints.ts";
export { parseJson } from "./bodies/json.ts";
export { type AttemptMarks, deliveryHeaders } from "./delivery/delivery-headers.ts";
export {
  signatureClaims,
  type SignatureClaims,
  signatureHeader,
  type SignatureInputs,
} from "./delivery/signature-claims.ts";
export {
  parseDestination,
  parseDestinationTarget,
  parsePublishTarget,
  type PublishTarget,
} from "./destination/publish-target.ts";
export { type EndpointEntry } from "./documents/endpoint-entry.ts";
export { endpoints } from "./documents/endpoints.ts";
export { renderErrors } from "./documents/errors.ts";
export { renderOpenApi } from "./documents/openapi.ts";
export { faultCatalogue, type FaultEntry } from "./faults/catalogue.ts";
export { parsePublish } from "./headers/parse-publish.ts";
export { type FlatHeaders, type PublishInput } from "./headers/publish-input.ts";
export {
  type CreateSearchIndex,
  parseCreateSearchIndex,
  parseThroughput,
  type SearchIndexJson,
} from "./management/search-indexes.ts";
export {
  type NewTokenJson,
  parseChangeTenant,
  parseCreateTenant,
  parseCreateToken,
  planJson,
  type TenantJson,
  type TenantSettings,
  type TokenJson,
} from "./management/tenants.ts";
export { type CancelQuery, parseCancelQuery } from "./queries/cancel-query.ts";
export { type DeadLetterQuery, parseDeadLetterQuery } from "./queries/dead-letter-query.ts";
export { type LogQuery, parseLogQuery } from "./queries/log-query.ts";
export { type PageQuery } from "./queries/page.ts";
export {
  type DeadLetterJson,
  deadLetterJson,
  deadLetterPageJson,
} from "./representations/dead-letter.ts";
export { type KeysJson, keysJson } from "./representations/keys.ts";
export {
  eventPageJson,
  groupedLogPageJson,
  type LogEntryJson,
  logEntryJson,
  type LoggedEvent,
  logPageJson,
} from "./representations/log-entry.ts";
export { type MessageJson, messageJson, type ReadView } from "./representations/message.ts";
export {
  type PublishResult,
  type PublishResultJson,
  publishResultJson,
} from "./representations/publish-result.ts";
export { type GroupJson, groupJson } from "./representations/url-group.ts";
export { dialects, type DialectNames } from "./wire/dialects.ts";
export { isName, isTenantId } from "./wire/text.ts";
