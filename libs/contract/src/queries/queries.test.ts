import { describe, expect, it } from "@jest/globals";
import { isFault } from "@posthaste/domain";
import * as fc from "fast-check";
import { cancelBody, cancelQuery, parseCancelSelection } from "./cancel-selection.ts";
import { deadLetterParameters, parseDeadLetterQuery } from "../endpoints/dead-letters.ts";
import { logParameters, parseEventQuery, parseLogQuery } from "../endpoints/message-log.ts";
import { parseCountsQuery } from "../endpoints/overview.ts";
import { fuzzRuns, hostileText } from "../hostile.fixture.ts";

const pieces = [
  ..."0 1 9 - -1 1e3 0x 99999999999999999 true false null __proto__ [$ne] [] { } \" ' . * , ,, ; : /".split(
    " ",
  ),
  ..."earliestFirst latestFirst ERROR messageId 1-a % %2 %00 %2C %26 %ff %ud800 + & = # ?".split(
    " ",
  ),
  "&label=",
  "\ud800",
  "é",
];

const hostileQuery = (names: readonly string[]): fc.Arbitrary<string> => {
  const name = fc.oneof(
    { arbitrary: fc.constantFrom(...names), weight: 9 },
    { arbitrary: hostileText([...names, ...pieces], 2), weight: 1 },
  );
  const times = fc.oneof(
    { arbitrary: fc.constant(1), weight: 31 },
    { arbitrary: fc.constant(1_001), weight: 1 },
  );
  const pair = fc.tuple(name, hostileText(pieces, 5), times);
  return fc
    .array(pair, { maxLength: 6 })
    .map((pairs) => pairs.map(([key, value, n]) => `${key}=${value}&`.repeat(n)).join(""));
};

const expectNamed = (text: string, names: readonly string[]): void =>
  expect(text).toMatch(new RegExp(`^((${names.join("|")}|body): |unknown parameter ")`));

/** All values together are no longer than the query, and no more than a thousand for each name. */
function expectWithin(filter: object, length: number): void {
  const lists = Object.values(filter).filter((value): value is string[] => Array.isArray(value));
  expect(Math.max(0, ...lists.map((list) => list.length))).toBeLessThanOrEqual(1_000);
  expect(lists.flat().join("").length).toBeLessThanOrEqual(length);
}

const lists = [
  ["events", parseLogQuery, 1_000, "latestFirst"],
  ["dead letters", parseDeadLetterQuery, 100, "earliestFirst"],
] as const;

describe.each(lists)("a list of %s", (_, parse, countMax, order) => {
  const page = (search: string) => {
    const query = parse(search);
    return isFault(query) ? query : query.page;
  };
  const filter = (search: string) => {
    const query = parse(search);
    return isFault(query) ? query : query.filter;
  };

  it("has no filter and one full page in the usual order without parameters", () => {
    expect(filter("")).toEqual({});
    expect(page("")).toMatchObject({ limit: countMax, order });
    expect(page("")).not.toHaveProperty("cursor");
  });

  it.each([
    "labeel=a",
    "label[$ne]=a",
    "count[]=1",
    "count[$gt]=0",
    "$where=1",
    "__proto__=1",
    "constructor=1",
    "LABEL=a",
    "=1",
    "dryRun=true",
  ])("refuses the unknown filter of %s, naming it", (search) => {
    const name = search.slice(0, search.indexOf("="));

    expect(parse(search)).toMatchObject({
      fault: "malformed",
      text: expect.stringContaining(JSON.stringify(name)),
    });
  });

  it.each([
    ["label=a&label=b", { labels: ["a", "b"] }],
    ["label=a,b", { labels: ["a", "b"] }],
    ["label=a,%20b&label=c", { labels: ["a", "b", "c"] }],
    ["url=https://a.b/?x=1,2", { urls: ["https://a.b/?x=1,2"] }],
    ["url=https%3A%2F%2Fa.b&url=x", { urls: ["https://a.b", "x"] }],
    ["topicName=g", { groups: ["g"] }],
    ["scheduleId=s&queueName=q", { scheduleIds: ["s"], queueNames: ["q"] }],
    ["flowControlKey=k", { flowControlKeys: ["k"] }],
    ["callerIp=1.2.3.4&callerIP=::1", { callerIps: ["1.2.3.4", "::1"] }],
    ["messageId=m1&messageIds=m2,m3", { messageIds: ["m1", "m2", "m3"] }],
    ["fromDate=1&toDate=1", { from: 1, to: 1 }],
    ["label=a'||1==1", { labels: ["a'||1==1"] }],
    ['label={"$gt":""}', { labels: ['{"$gt":""}'] }],
    ["label=.*", { labels: [".*"] }],
    ["api=llm&qstash_token=secret", {}],
  ])("understands %s", (search, expected) => {
    expect(filter(search)).toEqual(expected);
  });

  it.each([
    ["count=0", "count"],
    ["count=-1", "count"],
    [`count=${countMax + 1}`, "count"],
    ["count=1e3", "count"],
    ["count=0x10", "count"],
    ["count=１０", "count"],
    ["count=", "count"],
    ["count=NaN", "count"],
    ["count=9e99", "count"],
    ["count=1&count=2", "count"],
    ["trimBody=-2", "trimBody"],
    ["trimBody=all", "trimBody"],
    ["order=up", "order"],
    ["cursor=a&cursor=b", "cursor"],
    [`cursor=${"c".repeat(1_025)}`, "cursor"],
    ["fromDate=2&toDate=1", "fromDate"],
    ["fromDate=-1", "fromDate"],
    ["toDate=99999999999999999", "toDate"],
    ["toDate=9999999999999999", "toDate"],
    ["label=", "label"],
    ["label=a,,b", "label"],
    ["url=", "url"],
    ["messageIds=", "messageIds"],
    ["callerIp=localhost", "callerIp"],
    ["callerIP=127.0.0.1,10.0.0", "callerIP"],
    ["topicName=a group", "topicName"],
    ["queueName=..", "queueName"],
    [`scheduleId=${"s".repeat(129)}`, "scheduleId"],
    [`label=${"x".repeat(4_097)}`, "label"],
    [`label=${"x,".repeat(1_000)}x`, "label"],
    ["label=x&".repeat(1_001), "label"],
  ])("refuses %.40s, naming %s", (search, name) => {
    expect(parse(search)).toMatchObject({
      fault: "malformed",
      text: expect.stringMatching(new RegExp(`^${name}: `)),
    });
  });

  it("refuses more than 1,000 values, however many filters share them", () => {
    const values = (count: number) => "label=x&".repeat(count) + "callerIp=::1&".repeat(count);

    expect(parse(values(500))).not.toHaveProperty("fault");
    expect(parse(values(501))).toMatchObject({ fault: "malformed" });
  });

  it("takes an empty cursor for none", () => {
    expect(page("cursor=")).not.toHaveProperty("cursor");
    expect(page("cursor=abc")).toMatchObject({ cursor: "abc" });
  });

  it("takes digits in the place of a cursor for a time to begin at", () => {
    expect(page("cursor=1700000000000")).toMatchObject({ startAt: 1_700_000_000_000 });
    expect(page("cursor=1700000000000")).not.toHaveProperty("cursor");
  });

  it.each([
    ["trimBody=-1", 0],
    ["trimBody=0", 0],
    ["trimBody=7", 7],
    ["trimBody=9007199254740991&count=1", 8 * 1_024 * 1_024],
    [`count=${countMax}`, Math.floor((8 * 1_024 * 1_024) / countMax)],
  ])("with %s cuts bodies at a size of which a page can hold all", (search, bodyBytesMax) => {
    expect(page(search)).toMatchObject({ bodyBytesMax });
  });

  it("can be turned round", () => {
    expect(page("order=latestFirst")).toMatchObject({ order: "latestFirst" });
    expect(page("order=earliestFirst")).toMatchObject({ order: "earliestFirst" });
  });

  it("is read or refused by name, whatever the query holds, and holds no more than it", () => {
    const names = [...new Set([...logParameters, ...deadLetterParameters])];
    fc.assert(
      fc.property(hostileQuery(names), (search) => {
        const query = parse(search);
        if (isFault(query)) return expectNamed(query.text, names);
        expect(query.page.limit).toBeLessThanOrEqual(countMax);
        expectWithin(query.filter, search.length);
      }),
      { numRuns: fuzzRuns },
    );
  });
});

describe("a list of events", () => {
  it.each([
    ["state=ERROR", ["ERROR"]],
    ["state=IN_PROGRESS", ["ACTIVE", "RETRY", "ERROR"]],
    ["state=CANCELLED&state=CANCELED", ["CANCELED"]],
    ["state=CREATED,DELIVERED", ["CREATED", "DELIVERED"]],
  ])("of %s is one of %p", (search, states) => {
    expect(parseLogQuery(search)).toMatchObject({ filter: { states } });
  });

  it("refuses an unknown state", () => {
    expect(parseLogQuery("state=error")).toMatchObject({ text: expect.stringMatching(/^state: /) });
  });

  it("can be narrowed by host and path", () => {
    expect(parseLogQuery("host=a.b,c.d&path=/x,y")).toMatchObject({
      filter: { hosts: ["a.b", "c.d"], paths: ["/x,y"] },
    });
  });

  it("waits for up to a minute, and then goes from the earliest to the latest", () => {
    expect(parseEventQuery("wait=60")).toMatchObject({
      waitMs: 60_000,
      page: { order: "earliestFirst", limit: 1_000 },
    });
    expect(parseEventQuery("")).toMatchObject({ page: { order: "latestFirst" } });
    expect(parseEventQuery("")).not.toHaveProperty("waitMs");
    expect(parseLogQuery("wait=1")).toMatchObject({ fault: "malformed" });
  });

  it("is counted over a day at most", () => {
    expect(parseCountsQuery("")).toEqual({});
    expect(parseCountsQuery("fromDate=1&toDate=86400001")).toEqual({ from: 1, to: 86_400_001 });
    expect(parseCountsQuery("fromDate=1&toDate=86400002")).toMatchObject({
      text: "fromDate: must be within a day of toDate",
    });
  });

  it("groups ten messages at most", () => {
    expect(parseLogQuery("groupBy=messageId&trimBody=0")).toMatchObject({
      byMessage: true,
      page: { limit: 10, bodyBytesMax: 0 },
    });
    expect(parseLogQuery("groupBy=messageId&count=11")).toMatchObject({ fault: "malformed" });
    expect(parseLogQuery("groupBy=url")).toMatchObject({ text: "groupBy: must be messageId" });
    expect(parseLogQuery("")).toMatchObject({ byMessage: false });
    // Otherwise the parameter would be read without effect.
    expect(parseEventQuery("groupBy=messageId")).toMatchObject({
      text: expect.stringMatching(/^unknown parameter "groupBy"/),
    });
  });
});

describe("a list of dead letters", () => {
  it.each(["host=a.b", "path=/x", "state=ERROR", "groupBy=messageId"])("refuses %s", (search) => {
    expect(parseDeadLetterQuery(search)).toMatchObject({ fault: "malformed" });
  });

  it("can be narrowed to ids and statuses", () => {
    expect(
      parseDeadLetterQuery("dlqIds=1-a,2-b&responseStatus=500&responseStatus=0,999"),
    ).toMatchObject({
      filter: { ids: ["1-a", "2-b"], responseStatuses: [500, 0, 999] },
    });
    expect(parseDeadLetterQuery("responseStatus=5xx")).toMatchObject({
      text: expect.stringMatching(/^responseStatus: /),
    });
  });
});

describe("a bulk cancel", () => {
  const selected = (search: string, body = "") => {
    const query = cancelQuery.parse(search);
    const bytes = cancelBody.parse(new TextEncoder().encode(body));
    if (isFault(query)) return query;
    return isFault(bytes) ? bytes : parseCancelSelection(query, bytes);
  };

  it.each([
    ["messageIds=a,b&messageId=c", "", { ids: ["c", "a", "b"] }],
    ["", '{"messageIds":["a","b"]}', { ids: ["a", "b"] }],
    ["", '{"messageIds":"a","count":3}', { ids: ["a"] }],
    ["messageIds=a&label=x&host=y&count=1&dryRun=true", "", { ids: ["a"], dryRun: true }],
    ["", "", { filter: {} }],
    ["", "{}", { filter: {} }],
    ["", "null", { filter: {} }],
    ["", '{"messageIds":null}', { filter: {} }],
    ["count=500", "", { filter: {}, count: 500 }],
    [
      "label=x&host=h,i&path=/p,q&fromDate=1&toDate=2&count=1",
      "",
      { filter: { labels: ["x"], hosts: ["h", "i"], paths: ["/p,q"], from: 1, to: 2 }, count: 1 },
    ],
    ["", '{"queueName":["q"],"dryRun":true}', { filter: { queueNames: ["q"] }, dryRun: true }],
    ["async=true&label=x", "", { filter: { labels: ["x"] }, async: true }],
  ])("of %s with body %s is about %j", (search, body, about) => {
    const whole = "ids" in about ? {} : { count: undefined, async: false };
    expect(selected(search, body)).toEqual({ dryRun: false, ...whole, ...about });
  });

  it.each(['{"messageIds":[]}', '{"label":[]}', '{"label":"x","messageIds":[]}'])(
    "with body %s is about none",
    (body) => {
      expect(selected("", body)).toBe("none");
    },
  );

  it.each([
    ["label=", ""],
    ["count=501", ""],
    ["count=0", ""],
    ["dryRun=1", ""],
    ["state=ERROR", ""],
    ["cursor=x", ""],
    ["messageIds=", ""],
    ["", '{"messageIds":[""]}'],
    ["", '{"messageIds":[{}]}'],
    ["", `{"messageIds":[${'"a",'.repeat(1_000)}"a"]}`],
    ["messageIds=a", '{"messageIds":["b"]}'],
    ["labeel=x", ""],
    ["", '{"labeel":"x"}'],
    ["", "[]"],
  ])("refuses %s with body %.30s", (search, body) => {
    expect(selected(search, body)).toMatchObject({ fault: "malformed" });
  });

  it("is read or refused by name, whatever query and body hold, and holds no more than they", () => {
    const names = [...cancelQuery.names];
    const value = fc.oneof(hostileText(pieces, 5), fc.jsonValue({ maxDepth: 2 }));
    const name = fc.constantFrom(...names, ...names, "labeel", "__proto__");
    const body = fc.oneof(
      { arbitrary: fc.constant(""), weight: 2 },
      {
        arbitrary: fc
          .array(fc.tuple(name, value), { maxLength: 4 })
          .map((members) => JSON.stringify(Object.fromEntries(members))),
        weight: 2,
      },
      { arbitrary: hostileText([...pieces, "{", "}", "[", "]", ":", '"label"']), weight: 1 },
    );
    const search = fc.oneof(fc.constant(""), hostileQuery(names));
    fc.assert(
      fc.property(search, body, (query, text) => {
        const about = selected(query, text);
        if (about === "none") return;
        if (isFault(about)) return expectNamed(about.text, names);
        expectWithin("ids" in about ? about : about.filter, query.length + text.length);
      }),
      { numRuns: fuzzRuns },
    );
  });
});
