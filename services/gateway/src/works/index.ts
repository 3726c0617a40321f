/** The work of the gateway for each endpoint. A missing or extra one, or an answer that its row does not name, does not compile. */
import { type OperationId } from "@posthaste/contract";
import { type AuditParts, auditWorks } from "./audit.ts";
import { type BatchParts, batchWorks } from "./batch.ts";
import { type BulkActionParts, bulkActionWorks } from "./bulk-actions.ts";
import { deadLetterWorks, type DeadLetterParts } from "./dead-letters.ts";
import { flowKeyWorks, type FlowKeyParts } from "./flow-keys.ts";
import { meWorks } from "./me.ts";
import { type FollowParts } from "./follow-log.ts";
import { messageLogWorks } from "./message-log.ts";
import { messageWorks, type MessageParts } from "./messages.ts";
import { overviewWorks, type OverviewParts } from "./overview.ts";
import { queueWorks } from "./queues.ts";
import { type RestartParts, restartWorks } from "./restarts.ts";
import { runLogWorks } from "./run-logs.ts";
import { type RunLogParts } from "./run-readings.ts";
import { runWorks } from "./runs.ts";
import { scheduleWorks, type ScheduleParts } from "./schedules.ts";
import { signingKeyWorks, type SigningKeyParts } from "./signing-keys.ts";
import { triggerWorks } from "./trigger.ts";
import { urlGroupWorks, type UrlGroupParts } from "./url-groups.ts";
import { type WaitParts, waitWorks } from "./waits.ts";
import { type Works } from "./work.ts";

export type WorkParts = AuditParts &
  BatchParts &
  BulkActionParts &
  DeadLetterParts &
  FlowKeyParts &
  FollowParts &
  MessageParts &
  OverviewParts &
  RestartParts &
  RunLogParts &
  ScheduleParts &
  SigningKeyParts &
  UrlGroupParts &
  WaitParts;

export const gatewayWorks = (parts: WorkParts): Works<OperationId> => ({
  ...auditWorks(parts),
  ...batchWorks(parts),
  ...messageWorks(parts),
  ...bulkActionWorks(parts),
  ...urlGroupWorks(parts),
  ...flowKeyWorks(parts),
  ...queueWorks(parts),
  ...deadLetterWorks(parts),
  ...meWorks(),
  ...messageLogWorks(parts),
  ...overviewWorks(parts),
  ...restartWorks(parts),
  ...runWorks(parts),
  ...runLogWorks(parts),
  ...scheduleWorks(parts),
  ...signingKeyWorks(parts),
  ...triggerWorks(parts),
  ...waitWorks(parts),
});
