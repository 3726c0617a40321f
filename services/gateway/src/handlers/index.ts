/** The handlers of the gateway, one for each endpoint. A missing or extra one, or an answer that its row does not name, does not compile. */
import { type OperationId } from "@posthaste/contract";
import { type AuditParts, auditHandlers } from "./audit.ts";
import { type BatchParts, batchHandlers } from "./batch.ts";
import { type BulkActionParts, bulkActionHandlers } from "./bulk-actions.ts";
import { deadLetterHandlers, type DeadLetterParts } from "./dead-letters.ts";
import { flowKeyHandlers, type FlowKeyParts } from "./flow-keys.ts";
import { meHandlers } from "./me.ts";
import { type FollowParts } from "./follow-log.ts";
import { messageLogHandlers } from "./message-log.ts";
import { messageHandlers, type MessageParts } from "./messages.ts";
import { overviewHandlers, type OverviewParts } from "./overview.ts";
import { queueHandlers } from "./queues.ts";
import { type RestartParts, restartHandlers } from "./restarts.ts";
import { runLogHandlers } from "./run-logs.ts";
import { type RunLogParts } from "./run-readings.ts";
import { runHandlers } from "./runs.ts";
import { scheduleHandlers, type ScheduleParts } from "./schedules.ts";
import { signingKeyHandlers, type SigningKeyParts } from "./signing-keys.ts";
import { triggerHandlers } from "./trigger.ts";
import { urlGroupHandlers, type UrlGroupParts } from "./url-groups.ts";
import { type WaitParts, waitHandlers } from "./waits.ts";
import { type Handlers } from "./handler.ts";

export type HandlerParts = AuditParts &
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

export const gatewayHandlers = (parts: HandlerParts): Handlers<OperationId> => ({
  ...auditHandlers(parts),
  ...batchHandlers(parts),
  ...messageHandlers(parts),
  ...bulkActionHandlers(parts),
  ...urlGroupHandlers(parts),
  ...flowKeyHandlers(parts),
  ...queueHandlers(parts),
  ...deadLetterHandlers(parts),
  ...meHandlers(),
  ...messageLogHandlers(parts),
  ...overviewHandlers(parts),
  ...restartHandlers(parts),
  ...runHandlers(parts),
  ...runLogHandlers(parts),
  ...scheduleHandlers(parts),
  ...signingKeyHandlers(parts),
  ...triggerHandlers(parts),
  ...waitHandlers(parts),
});
