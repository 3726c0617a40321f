import { describe, expect, it } from "@jest/globals";
import {
  type BulkWork,
  bulkActionId,
  messageId,
  newBulkAction,
  runId,
  tenantId,
} from "@posthaste/domain";
import { bulkActionJson } from "./bulk-actions.ts";

const filterOf = (work: BulkWork) =>
  bulkActionJson(
    newBulkAction(
      {
        id: bulkActionId("bulk_1"),
        tenant: tenantId("me"),
        work,
        upTo: { id: messageId("msg_1"), at: 1 },
        total: 0,
        createdAt: 1,
      },
      1,
    ),
  ).filter;

describe("the filter of a bulk action", () => {
  it.each<[string, BulkWork, object]>([
    ["of messages", { kind: "cancel", filter: {} }, {}],
    [
      "of messages",
      { kind: "cancel", filter: { labels: ["a", "b"], hosts: ["h"], from: 1 } },
      { label: ["a", "b"], host: ["h"], fromDate: ["1"] },
    ],
    ["of runs", { kind: "cancelRuns", filter: {} }, {}],
    [
      "of runs",
      { kind: "cancelRuns", filter: { urlPrefixes: ["http://a"], id: runId("r"), to: 2 } },
      { workflowUrl: ["http://a"], workflowRunId: ["r"], toDate: ["2"] },
    ],
    [
      "of runs",
      { kind: "cancelRuns", filter: { urls: ["http://a"], createdAt: 3, callerIps: ["::1"] } },
      {
        workflowUrl: ["http://a"],
        workflowUrlExactMatch: ["true"],
        workflowCreatedAt: ["3"],
        callerIp: ["::1"],
      },
    ],
  ])("%s is shown as it was requested", (_, work, shown) => {
    expect(filterOf(work)).toEqual(shown);
  });
});
