/** Which scopes may do each operation of the gateway. An operation without a row does not compile. */
import { describe, expect, it } from "@jest/globals";
import { isTokenScope, refusalOfScope, scopesFor, tokenScopeFrom } from "@posthaste/domain";
import { endpoints } from "./documents/endpoints.ts";
import { type OperationId } from "./endpoints/index.ts";
import { isName } from "./wire/text.ts";
import { type RawOperation } from "./raw-targets.ts";

const all = ["full", "operate", "read", "publish"] as const;
const reading = ["full", "operate", "read"] as const;
const acting = ["full", "operate"] as const;
const publishing = ["full", "publish"] as const;
const full = ["full"] as const;
/** The queue that the path names is `q`. */
const own = "queue:q";

const scopes = {
  listChanges: reading,
  publish: publishing,
  enqueue: [...publishing, own],
  trigger: publishing,
  createSchedule: full,
  publishBatch: publishing,
  triggerBatch: publishing,
  readMessage: reading,
  cancelMessage: acting,
  runMessageNow: acting,
  cancelMessages: acting,
  listBulkActions: reading,
  readBulkAction: reading,
  upsertEndpoints: full,
  removeEndpoints: full,
  listGroups: reading,
  readGroup: reading,
  configureGroup: full,
  removeGroup: full,
  listFlowKeys: reading,
  readFlowKey: reading,
  pauseFlowKey: acting,
  resumeFlowKey: acting,
  resetFlowRate: acting,
  resetFlowKey: acting,
  readGlobalParallelism: reading,
  pinFlowKey: full,
  unpinFlowKey: full,
  upsertQueue: full,
  listQueues: reading,
  readQueue: [...reading, own],
  removeQueue: [...full, own],
  pauseQueue: [...acting, own],
  resumeQueue: [...acting, own],
  listDeadLetters: reading,
  readDeadLetter: reading,
  removeDeadLetter: full,
  removeDeadLetters: full,
  retryDeadLetter: acting,
  retryDeadLetters: acting,
  readMe: all,
  listEvents: reading,
  listLogs: reading,
  listCounts: reading,
  readOverview: reading,
  restartRun: acting,
  restartRunOfLetter: acting,
  restartRuns: acting,
  resumeRun: acting,
  resumeRunOfLetter: acting,
  resumeRuns: acting,
  readRunHistory: reading,
  endRun: acting,
  cancelRuns: acting,
  listRunLogs: reading,
  listRunEvents: reading,
  listRunMessages: reading,
  listFailedRuns: reading,
  readFailedRun: reading,
  removeFailedRun: full,
  removeFailedRuns: full,
  tellFailureAgain: acting,
  cancelFailureFunction: acting,
  listSchedules: reading,
  readSchedule: reading,
  removeSchedule: full,
  pauseSchedule: acting,
  pauseScheduleByPost: acting,
  resumeSchedule: acting,
  resumeScheduleByPost: acting,
  readKeys: full,
  rotateKeys: full,
  rotateKeysByItsOlderPath: full,
  waitForEvent: full,
  notifyEvent: full,
  notifyRun: full,
  listWaiters: reading,
} as const satisfies Readonly<Record<OperationId | RawOperation, readonly string[]>>;

const isListed = (operation: string): operation is keyof typeof scopes =>
  Object.hasOwn(scopes, operation);

const operations = endpoints
  .filter(({ api }) => api === undefined)
  .map(({ operation, path, kind }) => ({
    operation,
    kind,
    queue: path.includes("{queueName}") ? "q" : undefined,
  }));

describe("the scope of a token", () => {
  it.each(operations)("decides on $operation as the table says", ({ operation, ...asked }) => {
    const may = isListed(operation) ? scopes[operation] : [];

    for (const held of [...all, own, "queue:other"] as const) {
      const mayByName: readonly string[] = may;
      const refused = refusalOfScope(held, asked);
      const isSelf = asked.kind === "self";

      expect({ held, isAllowed: refused === undefined }).toEqual({
        held,
        isAllowed: isSelf || mayByName.includes(held),
      });
      if (refused)
        expect(refused).toEqual({
          fault: "forbidden",
          text: `this needs a token of scope ${may.join(" or ")}; the scope of this token is ${held}`,
        });
    }
    expect(scopesFor(asked)).toEqual(may);
  });

  it.each([
    ["full", true],
    ["read", true],
    ["operate", true],
    ["publish", true],
    ["queue:q", true],
    [`queue:${"q".repeat(128)}`, true],
    [`queue:${"q".repeat(129)}`, false],
    ["queue:", false],
    ["queue", false],
    ["queue:.", false],
    ["queue:..", false],
    ["queue:a/b", false],
    ["queue:a\n", false],
    ["Full", false],
    ["", false],
    ["write", false],
  ])("%j is one: %s, and any other that is stored counts as read", (text, isOne) => {
    expect(isTokenScope(text)).toBe(isOne);
    expect(tokenScopeFrom(text)).toBe(isOne ? text : "read");
    const [prefix, queue = ""] = text.split(":");
    if (prefix === "queue") expect(isName(queue)).toBe(isOne);
  });
});
