import { describe, expect, it } from "@jest/globals";
import { type Fault, isFault, runId } from "@posthaste/domain";
import { parseFailedRunQuery, parseFailedRunSelection, parseRunLogQuery } from "./run-filter.ts";
import { activeRunFilterJson, parseRunSelection } from "./run-selection.ts";

const logged = parseRunLogQuery("left out", "runs");
const happened = parseRunLogQuery("shown", "events");

function filterOf<T extends object>(parsed: T | Fault): Exclude<T, Fault> {
  if (isFault(parsed)) throw new Error(parsed.text);
  return parsed as Exclude<T, Fault>;
}

describe("runs that are named in full", () => {
  it("are used alone: the other filters are ignored, whatever they say", () => {
    const uses = [
      { id: runId("a@b"), createdAt: 12 },
      { id: runId("c"), createdAt: 34 },
    ];
    const others = "state=none&workflowUrl=no&label=x&fromDate=9&toDate=1&host=a&messageId=m";

    for (const parse of [logged, happened]) {
      const { filter, isRetried } = filterOf(parse(`workflowRuns=a@b@12,c@34&${others}`));
      expect(filter).toEqual({ runs: uses });
      expect(isRetried).toBe(false);
    }
    expect(filterOf(happened("workflowRuns=c@34&state=STEP_RETRY")).events).toEqual({});
    expect(filterOf(logged("workflowRuns=c@34&count=7&trimBody=3")).page).toMatchObject({
      limit: 7,
      bodyBytesMax: 3,
    });
    expect(logged("state=none")).toMatchObject({ fault: "malformed" });
  });
});

describe("steps", () => {
  it("are left out of a list of runs that says none, and are no question to a list of events", () => {
    expect(filterOf(logged("")).withSteps).toBe(true);
    expect(filterOf(logged("steps=none&workflowRuns=c@34")).withSteps).toBe(false);
    expect(logged("steps=some")).toMatchObject({
      fault: "malformed",
      text: "steps: must be all or none",
    });
    expect(happened("steps=none")).toMatchObject({ fault: "malformed" });
  });
});

describe("runs of a host and a path", () => {
  it.each([logged, happened])("are asked for by several of each", (parse) => {
    const { filter } = filterOf(parse("host=a.example,b.example&path=/x,y&path=/z"));

    expect(filter).toEqual({ hosts: ["a.example", "b.example"], paths: ["/x,y", "/z"] });
  });

  it("are no filter of dead letters", () => {
    expect(parseFailedRunQuery("host=a.example")).toMatchObject({ fault: "malformed" });
  });
});

describe("dead letters of runs", () => {
  it("are found by destination and status, as older clients request them", () => {
    const { filter } = filterOf(parseFailedRunQuery("url=https://a.example/x&responseStatus=500"));

    expect(filter).toEqual({ urls: ["https://a.example/x"], statuses: [500] });
    expect(isFault(parseFailedRunQuery("responseStatus=no"))).toBe(true);
  });
});

describe("a selection that names no run", () => {
  const failed = parseFailedRunSelection(50);

  it.each(["", "cursor=0-1", "failureFunctionState="])(
    "of failed runs, %j, is refused",
    (search) => {
      expect(failed(search)).toMatchObject({ fault: "malformed" });
    },
  );

  it("of active runs is refused when it says how URLs compare, and gives none", () => {
    expect(parseRunSelection("workflowUrlExactMatch=false")).toMatchObject({
      fault: "malformed",
      text: expect.stringContaining("the call selects no run"),
    });
  });

  it.each([failed, parseFailedRunQuery, logged, happened])(
    "is refused with an empty id",
    (parse) => {
      expect(parse("workflowRunId=")).toMatchObject({
        fault: "malformed",
        text: expect.stringMatching(/^workflowRunId: must not be empty/),
      });
    },
  );

  it("is not a count alone, which means the newest, nor one filter", () => {
    expect(failed("count=7")).toMatchObject({ filter: {}, page: { limit: 7 } });
    expect(failed("workflowRunId=a")).toMatchObject({ filter: { id: "a" }, page: { limit: 50 } });
    expect(parseRunSelection("count=7")).toEqual({ kind: "filter", filter: {}, count: 7 });
  });
});

describe("runs that are to be cancelled", () => {
  it.each([
    ["workflowUrl=https://a.example/", { urlPrefixes: ["https://a.example/"] }],
    ["workflowUrl=https://a.example/&workflowUrlExactMatch=true", { urls: ["https://a.example/"] }],
    ["host=a.example&path=/x&label=l", { hosts: ["a.example"], paths: ["/x"], labels: ["l"] }],
  ])("are meant by %s, a hundred of them", (search, filter) => {
    expect(parseRunSelection(search)).toEqual({ kind: "filter", filter, count: 100 });
    const [text] = search.split("&").map((each) => each.split("="));
    expect(Object.keys(activeRunFilterJson(filter))).toContain(text?.[0]);
  });

  it("are the runs of the ids, whatever else is given", () => {
    expect(parseRunSelection("workflowRunIds=a,b&label=l")).toEqual({
      kind: "ids",
      ids: ["a", "b"],
    });
  });
});
