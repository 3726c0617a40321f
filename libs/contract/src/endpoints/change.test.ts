import { describe, expect, it } from "@jest/globals";
import { isChanging } from "@posthaste/domain";
import { endpoints } from "../documents/endpoints.ts";
import { managementEndpoints } from "../management/index.ts";
import { type Endpoint, isChange, resourceOf } from "./endpoint.ts";
import { gatewayEndpoints } from "./index.ts";
import { queues } from "./queues.ts";
import { runs } from "./runs.ts";

/** Requests that steps of runs send. */
const ofRuns = ["waitForEvent", "notifyEvent", "notifyRun"];

const rows = [...Object.entries(gatewayEndpoints), ...Object.entries(managementEndpoints)];

describe("the audit log", () => {
  it("has every write but the events of runs, and nothing that is read or published", () => {
    for (const [operation, row] of rows) {
      const isAudited = isChange(row as Endpoint, { cancels: true });

      expect({ operation, isAudited }).toEqual({
        operation,
        isAudited: isChanging(row.kind) && !ofRuns.includes(operation),
      });
    }
    expect(endpoints.find(({ operation }) => operation === "createSchedule")?.kind).toBe("write");
  });

  it("has no run that its own endpoint has ended, and no dry run", () => {
    expect(isChange(runs.endRun, { cancels: false, isOwn: true })).toBe(false);
    expect(isChange(runs.endRun, { cancels: true, isOwn: false })).toBe(true);
    expect(isChange(queues.removeQueue, { dryRun: true })).toBe(false);
    expect(isChange(queues.removeQueue, { dryRun: false })).toBe(true);
  });

  it("names the changed object by its path, and by the name in the body if the path has none", () => {
    expect(resourceOf(queues.pauseQueue, { queueName: "mail" }, undefined)).toBe(
      "/v2/queues/mail/pause",
    );
    const body = { queueName: "mail", parallelism: 2, paused: undefined };
    expect(resourceOf(queues.upsertQueue, {}, body)).toBe("/v2/queues/mail");
  });
});
