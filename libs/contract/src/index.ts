export { deliveryHeaders } from "./delivery/delivery.ts";
export { signatureClaims } from "./delivery/delivery.ts";
export { endpoints } from "./documents/endpoints.ts";
export { renderErrors } from "./documents/errors.ts";
export { renderOpenApi } from "./documents/openapi.ts";
export { atOnce, bytesPerTurn, type InTurns, pause, type Pause } from "./bodies/pause.ts";
export { type ReadUrl } from "./headers/setting.ts";
export {
  type batch,
  type BatchBody,
  type BatchItem,
  type BatchContext,
} from "./endpoints/batch.ts";
export { bulkActionJson, type bulkActions, bulkStateOf } from "./endpoints/bulk-actions.ts";
export {
  deadLetterJson,
  deadLetterPageJson,
  type deadLetters,
  type DeadLetterSelection,
  parseDeadLetterSelection,
} from "./endpoints/dead-letters.ts";
export {
  type Answer,
  type AnswerOf,
  type AskedOf,
  type Endpoint,
  type EndpointKind,
  type EndpointSpec,
  faultOfNames,
  type Pieces,
  isChange,
  resourceOf,
} from "./endpoints/endpoint.ts";
export { type ReadPermit } from "./endpoints/read-permit.ts";
export {
  gatewayEndpoints,
  type GatewaySpecs,
  type OperationId,
  operationIds,
} from "./endpoints/index.ts";
export { parseFlowKey, flowKeyJson, type flowKeys } from "./endpoints/flow-keys.ts";
export { messageJson, type messages } from "./endpoints/messages.ts";
export {
  eventPageJson,
  groupedLogPageJson,
  logEntryJson,
  type LogView,
  type LogEntryJson,
  logPageJson,
  type EventQuery,
  type LogQuery,
  type messageLog,
} from "./endpoints/message-log.ts";
export { countsMsMax, type CountsQuery, type overview } from "./endpoints/overview.ts";
export {
  dryRunText,
  scheduleJson,
  type ScheduleListQuery,
  scheduleResultText,
  type schedules,
  type SlotState,
  slotStateOf,
} from "./endpoints/schedules.ts";
export { type PublishResult, publishResultText } from "./endpoints/publish.ts";
export { startedText, triggerHeaders, type triggers } from "./endpoints/trigger.ts";
export { type waits } from "./endpoints/waits.ts";
export { type WaitBody } from "./workflow/wait-body.ts";
export { waiterJson } from "./workflow/waiter.ts";
export { type restarts } from "./endpoints/restarts.ts";
export { givenCreatedAt, givenRunId, belongsToRun, faultOfRun } from "./workflow/run-publish.ts";
export { failedRunJson, type FailedRunJson, type failedRuns } from "./endpoints/failed-runs.ts";
export { type RunJson, type runLogs } from "./endpoints/run-logs.ts";
export {
  type FailedRunQuery,
  type RunLogQuery,
  type RunMessageQuery,
} from "./queries/run-filter.ts";
export { type RunSelection } from "./queries/run-selection.ts";
export { functionState } from "./workflow/run-failure.ts";
export { runEvents } from "./workflow/run-events.ts";
export { runMessages } from "./workflow/run-messages.ts";
export { runHeadJson, runJson } from "./workflow/run-view.ts";
export { type RunReading } from "./workflow/step-view.ts";
export { type ReadView } from "./representations/body.ts";
export { shownAttempt, shownParts } from "./workflow/shown-part.ts";
export { type runs } from "./endpoints/runs.ts";
export { eventTarget } from "./event-targets.ts";
export { historyJson, HistoryText } from "./workflow/history-body.ts";
export { type queues } from "./endpoints/queues.ts";
export { type me, meJson } from "./endpoints/me.ts";
export { keysJson, type signingKeys } from "./endpoints/signing-keys.ts";
export {
  endpointsText,
  groupClosing,
  groupOpening,
  type urlGroups,
} from "./endpoints/url-groups.ts";
export { faultCatalogue, faultHeader, rateHeaders } from "./faults/catalogue.ts";
export {
  parseDefaults,
  parseOverrides,
  parsePublish,
  readPublish,
} from "./headers/parse-publish.ts";
export { parseSchedule } from "./headers/parse-schedule.ts";
export { type FlatHeaders, type PublishInput } from "./headers/publish-input.ts";
export {
  managementEndpoints,
  type ManagementOperationId,
  managementOperationIds,
  type ManagementSpecs,
} from "./management/index.ts";
export {
  type CreateSearchIndex,
  type searchIndexes,
  type SearchIndexJson,
} from "./management/search-indexes.ts";
export { type wholeAudit } from "./management/audit.ts";
export { type tenantKeys } from "./management/tenant-keys.ts";
export {
  planJson,
  type TenantJson,
  type tenants,
  type TenantSettings,
} from "./management/tenants.ts";
export { changesJson } from "./audit.ts";
export { type audit } from "./endpoints/audit.ts";
export { type CreateToken, type TokenJson, type tokens } from "./management/tokens.ts";
export { type CancelSelection, parseCancelSelection } from "./queries/cancel-selection.ts";
export { type PageQuery } from "./queries/page.ts";
export {
  type ParsedTarget,
  parseRawTarget,
  type RawOperation,
  rawTargets,
  rawTargetOf,
  type RawTargetRow,
} from "./raw-targets.ts";
export { type NamedDestination } from "./destination/destination-target.ts";
export { dialects, givenValue } from "./wire/dialects.ts";
export { decodedLeniently, isName, isTenantId } from "./wire/text.ts";
