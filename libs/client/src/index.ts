export {
  type BulkAction,
  type Change,
  type DeadLetter,
  type FaultCode,
  type FlowKey,
  type LogEntry,
  type Message,
  type Operations,
  type PublishResult,
  type Queue,
  type Run,
  type Schedule,
  type SearchIndex,
  settingNames,
  type Settings,
  type SigningKeys,
  type StartedRun,
  type Tenant,
  type Token,
  type UrlGroup,
} from "./api.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export { createManagement, type Management, type ManagementOptions } from "./management.ts";
export { type AnswerOf, type CallOptions } from "./operations.ts";
export { type FollowOptions, type FollowQuery } from "./follow.ts";
export { type ElementOf } from "./pages.ts";
export {
  type BatchItem,
  type Enqueued,
  type JsonPublication,
  type NewSchedule,
  type Publication,
  type Published,
  type Trigger,
} from "./publishing.ts";
export { InvalidCall } from "./invalid-call.ts";
export { type FailureCode, PosthasteError } from "./refusal.ts";
