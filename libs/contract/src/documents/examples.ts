/**
 * A request for each operation, as the reference shows it (ADR 177); `tests/e2e/reference.either.e2e.test.ts` sends all of them.
 */
import { type OperationId } from "../endpoints/index.ts";
import { type ManagementOperationId } from "../management/index.ts";
import { type RawOperation } from "../raw-targets.ts";

type Operation = OperationId | RawOperation | ManagementOperationId;

type Example = {
  /** Given if a parameter means something else than in other paths. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

const shop = "https://shop.example";
const order = { order: 17 };
const item = { destination: `${shop}/orders`, body: JSON.stringify(order) };
/** A dry run: the answer says what would be done, and nothing is done. */
const matching = { label: "orders", dryRun: true };
const failedRuns = { workflowUrl: `${shop}/workflow` };

const searchIndex = { path: { id: "8b6f1f5e-6c0c-4f6e-9d59-3f6a3f6f1c11" } };

export const pathExamples: Readonly<Record<string, string>> = {
  destination: `${shop}/orders`,
  messageId: "msg_1icMmin3YcWLrHXGo1GZ9mJyFI",
  actionId: "bulk_1icMmin3YcWLrHXGo1GZ9mJyFI",
  dlqId: "1795734785983-1gmnoib1qkv6h4",
  urlGroupName: "receivers",
  flowControlKey: "carrier",
  queueName: "mail",
  scheduleId: "report",
  runId: "order-17",
  eventId: "approved",
  id: "north",
  tokenId: "tok_1icMmin3YcWLrHXGo1GZ9mJyFI",
};

const examples: Partial<Readonly<Record<Operation, Example>>> = {
  publish: { headers: { "Service-Retries": "3", "Service-Label": "orders" }, body: order },
  enqueue: { headers: { "Service-Retries": "3" }, body: order },
  trigger: { headers: { "Service-Label": "orders" }, body: order },
  createSchedule: {
    headers: { "Service-Cron": "0 9 * * *", "Service-Schedule-Id": "report" },
    body: order,
  },
  publishBatch: { body: [{ ...item, headers: { "Service-Retries": "3" } }, item] },
  triggerBatch: { body: [item] },
  cancelMessages: { body: matching },
  listBulkActions: { query: { count: "10" } },
  upsertEndpoints: { body: { endpoints: [{ url: `${shop}/orders`, name: "orders" }] } },
  removeEndpoints: { body: { endpoints: [{ name: "orders" }] } },
  configureGroup: { body: { headers: { "Service-Retries": "3" } } },
  listFlowKeys: { query: { search: "carr" } },
  pinFlowKey: { query: { parallelism: "2", rate: "10", period: "60" } },
  unpinFlowKey: { query: { rate: "true" } },
  upsertQueue: { body: { queueName: "mail", parallelism: 5 } },
  removeQueue: { query: { dryRun: "true" } },
  listDeadLetters: { query: { label: "orders", count: "10" } },
  removeDeadLetters: { body: matching },
  retryDeadLetters: { body: matching },
  listEvents: { query: { state: "FAILED", count: "10" } },
  listLogs: { query: { groupBy: "messageId" } },
  restartRuns: { query: failedRuns },
  resumeRuns: { query: failedRuns },
  removeFailedRuns: { query: failedRuns },
  cancelRuns: { body: failedRuns },
  endRun: { query: { cancel: "true" } },
  listRunLogs: { query: { state: "RUN_FAILED", count: "10" } },
  listRunEvents: { query: { count: "10" } },
  listRunMessages: { query: { count: "10" } },
  listFailedRuns: { query: { count: "10" } },
  listSchedules: { query: { count: "10" } },
  waitForEvent: { body: { url: `${shop}/workflow`, timeout: "1h", step: { stepId: 1 } } },
  createTenant: { body: { id: "north", plan: { groupEndpointsMax: 10 } } },
  changeTenant: { body: { plan: { retriesMax: 10 } } },
  createToken: { body: { scope: "publish", name: "shop" } },
  enterSearchIndex: {
    body: {
      customer_id: "north",
      name: "products",
      endpoint: "products-1",
      type: "payg",
      region: "eu-west-1",
    },
  },
  readSearchIndex: searchIndex,
  strikeSearchIndex: searchIndex,
  rotateSearchIndexTokens: searchIndex,
  reportThroughput: { ...searchIndex, body: { y: 12 } },
};

const byOperation: ReadonlyMap<string, Example> = new Map(Object.entries(examples));
const none: Example = {};

export const exampleOf = (operation: string): Example => byOperation.get(operation) ?? none;
