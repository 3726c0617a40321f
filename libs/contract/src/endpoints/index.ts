/** The endpoints of the gateway that go through its router. `raw-targets.ts` has those that are taken before it. */
import { type SpecOf } from "./endpoint.ts";
import { audit } from "./audit.ts";
import { batch } from "./batch.ts";
import { bulkActions } from "./bulk-actions.ts";
import { deadLetters } from "./dead-letters.ts";
import { failedRuns } from "./failed-runs.ts";
import { flowKeys } from "./flow-keys.ts";
import { me } from "./me.ts";
import { messageLog } from "./message-log.ts";
import { messages } from "./messages.ts";
import { overview } from "./overview.ts";
import { queues } from "./queues.ts";
import { restarts } from "./restarts.ts";
import { runLogs } from "./run-logs.ts";
import { runs } from "./runs.ts";
import { schedules } from "./schedules.ts";
import { signingKeys } from "./signing-keys.ts";
import { triggers } from "./trigger.ts";
import { waits } from "./waits.ts";
import { urlGroups } from "./url-groups.ts";

export const gatewayEndpoints = {
  ...audit,
  ...batch,
  ...messages,
  ...bulkActions,
  ...urlGroups,
  ...flowKeys,
  ...queues,
  ...deadLetters,
  ...me,
  ...messageLog,
  ...overview,
  ...restarts,
  ...runs,
  ...runLogs,
  ...failedRuns,
  ...schedules,
  ...signingKeys,
  ...triggers,
  ...waits,
};

type GatewayEndpoints = typeof gatewayEndpoints;
export type OperationId = keyof GatewayEndpoints;
export type GatewaySpecs = { readonly [Id in OperationId]: SpecOf<GatewayEndpoints[Id]> };

const isOperationId = (text: string): text is OperationId => Object.hasOwn(gatewayEndpoints, text);
export const operationIds: readonly OperationId[] =
  Object.keys(gatewayEndpoints).filter(isOperationId);
