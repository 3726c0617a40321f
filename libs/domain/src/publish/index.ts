export {
  type Deduplication,
  type Destination,
  type Postponement,
  type PublishCommand,
  type RunCommand,
  type RunPublish,
  type UrlCommand,
} from "./command.ts";
export {
  type DeduplicationKey,
  deduplicationKeyOf,
  deduplicationKeys,
  keysOfEndpoints,
  keepsKey,
  scheduleContent,
} from "./deduplication.ts";
export { kindOfAll, type Refused, type QuotaNeed, quotaNeeded } from "./intake.ts";
export {
  type Endpoint,
  type Group,
  type GroupChunkId,
  groupChangedAt,
  groupChunkId,
  groupChunkMax,
  removeEndpoints,
  upsertEndpoints,
} from "./url-group.ts";
