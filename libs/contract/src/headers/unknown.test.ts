import { describe, expect, it } from "@jest/globals";
import { headerRules } from "./table.ts";
import { misspelt, refuseUnknown } from "./unknown.ts";

const refused = (suffix: string) =>
  refuseUnknown(`Service-${suffix}`, suffix.toLowerCase(), "service")?.text;

describe("a header of the Service- dialect whose name is in no table", () => {
  it.each([
    ["Retires", "Retries"],
    ["Retry", "Retries"],
    ["retry_delay", "Retry-Delay"],
    ["Dely", "Delay"],
    ["Corn", "Cron"],
    ["Callbak", "Callback"],
    ["Deduplication-I", "Deduplication-Id"],
    ["Labels", "Label"],
    ["Callback-Retires", "Callback-Retries"],
    ["Failure-Callback-Metod", "Failure-Callback-Method"],
    ["Foward-X-Shop", "Forward-x-shop"],
    ["Callback-Foward-X-Shop", "Callback-Forward-x-shop"],
    ["Workflo-RunId", "Workflow-RunId"],
  ])("%s is refused with the nearest known name, %s", (suffix, nearest) => {
    expect(refused(suffix)).toBe(
      `Service-${suffix}: there is no such header, is it Service-${nearest}?`,
    );
  });

  it.each(["Colour", "X", "", "Type", "Priority", "Not-Of-This-Release", "Z".repeat(30_000)])(
    "%.20s passes: it is near none, so a newer client may have sent it",
    (suffix) => {
      expect(refused(suffix)).toBeUndefined();
    },
  );

  it.each([
    ...["Workflow-Url", "Workflow-Invoke-Count", "Telemetry-Framework", "Feature-Other"],
    ...[
      "Callback-Workflow-CallType",
      "Failure-Callback-Feature-Set",
      "Callback-X",
      "Callback-Nope",
    ],
    ...["Signature", "Message-Id", "Retried", "Topic-Name", "Caller-Ip", "Attempt-Epoch"],
    ...["NonRetryable-Error", "Error-Step-Name"],
  ])(
    "%s passes: clients of workflows and of Python send such, or it is of a delivery",
    (suffix) => {
      expect(refused(suffix)).toBeUndefined();
    },
  );
});

it.each(["Retires", "Colour", "Something-New"])(
  "Upstash-%s passes: other releases of that dialect know more",
  (suffix) => {
    expect(refuseUnknown(`Upstash-${suffix}`, suffix.toLowerCase(), "upstash")).toBeUndefined();
  },
);

it.each([
  ["retires", "Retries"],
  ["callback-retires", "Callback-Retries"],
  ["id", undefined],
  ["type", undefined],
  ["name", undefined],
  ["callback-id", undefined],
])("in a query service-%s is a slip of %p", (suffix, meant) => {
  expect(misspelt(suffix)).toBe(meant);
});

it("each name in the table is known to itself alone", () => {
  for (const { suffix } of headerRules.filter((each) => !each.suffix.endsWith("*")))
    expect([suffix, misspelt(suffix.toLowerCase()) ?? suffix]).toEqual([suffix, suffix]);
});
