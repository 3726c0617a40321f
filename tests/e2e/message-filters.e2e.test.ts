/**
 * Tests each filter of messages: on live ones, by cancelling them, on the log, and on dead letters
 * (docs/design/wire#lists-and-cursors). The suite of schedules tests the filter by schedule, since it waits for its minute.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client, eventually, type Reply, hasStatus, hasLength } from "./client.ts";
import { always, Destination } from "./destination.ts";
import { service } from "./dialects.ts";
import { type Json, numberOf, textOf } from "./json.ts";
import { client, other, server, startBeforeTests } from "./suite.ts";
import { firstUser } from "./users.ts";

startBeforeTests();

const kinds: Kind[] = [];

/** Two messages that differ in everything that a filter may ask for, except one label. */
type Kind = {
  readonly name: "a" | "b";
  readonly client: Client;
  readonly destination: Destination;
  /** Contains a comma, which separates the values of other filters. */
  readonly url: string;
  readonly status: number;
  readonly headers: ReturnType<typeof service>;
};

type Failed = Kind & {
  readonly messageId: string;
  readonly dlqId: string;
  readonly createdAt: number;
};
let a: Failed;
let b: Failed;

beforeAll(async () => {
  const retry = { Retries: "1", "Retry-Delay": "1" };
  kinds.push(await kindOf("a", 418, "127.0.0.1", retry));
  kinds.push(await kindOf("b", 503, "127.0.0.2", { Retries: "0" }));
  a = await failed(0);
  b = await failed(1);
});
afterAll(() => Promise.all(kinds.map(({ destination }) => destination.stop())));

async function kindOf(
  name: Kind["name"],
  status: number,
  from: string,
  settings: Parameters<typeof service>[0],
): Promise<Kind> {
  const destination = await Destination.start();
  destination.answers(`/${name}`, always(status));
  const url = destination.url(`/${name}?x=1,2`);
  const group = JSON.stringify({ endpoints: [{ url }] });
  await client.post(`/v2/topics/group-${name}/endpoints`, {}, group);
  const headers = service({
    ...settings,
    Label: `label-${name},shared`,
    "Flow-Control-Key": `key-${name}`,
    "Flow-Control-Value": "parallelism=10",
  });
  const its = new Client(server.port, firstUser.token, from);
  return { name, client: its, destination, url, status, headers };
}

async function enqueued({ name, client: its, headers }: Kind, settings = {}): Promise<string> {
  const path = `/v2/enqueue/queue-${name}/group-${name}`;
  const reply = await its.post(path, { ...headers, ...service(settings) });
  expect([reply.status, reply.text]).toEqual([200, expect.anything()]);
  return textOf(reply.list()[0]?.["messageId"]);
}

async function failed(index: number): Promise<Failed> {
  const kind = kindAt(index);
  const messageId = await enqueued(kind);
  const [letter] = await client.until(`/v2/dlq?messageId=${messageId}`, "messages", hasLength(1));
  await client.until(`/v2/events?messageId=${messageId}&state=FAILED`, "events", hasLength(1));
  const [dlqId, createdAt] = [textOf(letter?.["dlqId"]), numberOf(letter?.["createdAt"])];
  return { ...kind, messageId, dlqId, createdAt };
}

function kindAt(index: number): Kind {
  const kind = kinds[index];
  if (!kind) throw new Error(`no kind ${index}`);
  return kind;
}

/** Makes a message that waits for an hour. */
const held = (index: number): Promise<string> => enqueued(kindAt(index), { Delay: "1h" });

async function createdAt(id: string): Promise<number> {
  const message = await eventually(() => client.get(`/v2/messages/${id}`), hasStatus(200));
  return numberOf(message.object()["createdAt"]);
}

const log = { order: "latestFirst", countMax: 1_000, isOfLog: true } as const;
const lists = {
  "/v2/events?": { ...log, key: "events" },
  "/v2/logs?": { ...log, key: "logs" },
  "/v2/logs?groupBy=messageId&": { ...log, key: "messages", countMax: 10 },
  "/v2/dlq?": { key: "messages", order: "earliestFirst", countMax: 100, isOfLog: false },
} as const;
type List = keyof typeof lists;
const listNames = Object.keys(lists) as List[];
const orders = ["latestFirst", "earliestFirst"] as const;

const bulk = {
  "DELETE /v2/messages": { countMax: 500 },
  "DELETE /v2/dlq": { countMax: 100 },
  "POST /v2/dlq/retry": { countMax: 100 },
} as const;
type Bulk = keyof typeof bulk;
const bulkNames = Object.keys(bulk) as Bulk[];
const bulkOfLetters = ["DELETE /v2/dlq", "POST /v2/dlq/retry"] as const;

function change(route: Bulk, query: string, body?: object): Promise<Reply> {
  const [method = "", path = ""] = route.split(" ");
  return client.call(method, `${path}?${query}`, {}, body && JSON.stringify(body));
}

/** Asks again after 429: these are more lists than a tenant may ask for in a second. */
const asked = (path: string): Promise<Reply> =>
  eventually(
    () => client.get(path),
    ({ status }) => status !== 429,
  );

async function listed(list: List, query: string): Promise<readonly Json[]> {
  const reply = await asked(`${list}${query}`);
  expect([query, reply.status]).toEqual([query, 200]);
  return reply.list(lists[list].key);
}

async function found(list: List, query: string): Promise<readonly string[]> {
  const ids = new Set((await listed(list, query)).map(({ messageId }) => messageId));
  return [a, b].filter(({ messageId }) => ids.has(messageId)).map(({ name }) => name);
}

const text = encodeURIComponent;
const both = ["a", "b"];
type Case = readonly [query: string, found: readonly string[]];

/** Questions for both the log and the dead letters. */
const common = (): readonly Case[] => [
  ["", both],
  [`messageId=${a.messageId}`, ["a"]],
  [`messageIds=${a.messageId},${b.messageId}`, both],
  [`messageId=${b.messageId}&messageIds=msg_none`, ["b"]],
  [`url=${text(a.url)}`, ["a"]],
  [`url=${text(a.url)}&url=${text(b.url)}`, both],
  [`url=${text(a.url.slice(0, -1))}`, []],
  ["label=label-a", ["a"]],
  ["label=label-a,label-b", both],
  ["label=label-b&label=none", ["b"]],
  ["label=shared", both],
  ["label=label", []],
  ["flowControlKey=key-a", ["a"]],
  ["flowControlKey=key-a,key-b", both],
  ["queueName=queue-b", ["b"]],
  ["queueName=queue-a,queue-b", both],
  ["topicName=group-a", ["a"]],
  ["topicName=group-a&topicName=group-b", both],
  ["scheduleId=none", []],
  ["callerIp=127.0.0.2", ["b"]],
  ["callerIP=127.0.0.1", ["a"]],
  ["callerIp=127.0.0.1,127.0.0.2", both],
  [`fromDate=${b.createdAt}`, ["b"]],
  [`toDate=${b.createdAt - 1}`, ["a"]],
  [`fromDate=${a.createdAt}&toDate=${b.createdAt - 1}`, ["a"]],
  ["toDate=1", []],
  ["label=shared&queueName=queue-a&flowControlKey=key-a&topicName=group-a", ["a"]],
  ["label=label-a&queueName=queue-b", []],
  [`topicName=group-a&url=${text(b.url)}`, []],
  ["api=llm", both],
];

const ofLog = (): readonly Case[] => [
  [`host=127.0.0.1:${a.destination.port}`, ["a"]],
  [`host=none,127.0.0.1:${b.destination.port}`, ["b"]],
  ["host=127.0.0.1", both],
  ["path=/a", ["a"]],
  ["path=/a&path=/b", both],
  ["path=/a&host=none", []],
  ["state=FAILED", both],
  ["state=RETRY", ["a"]],
  ["state=CREATED,RETRY&label=label-b", ["b"]],
  ["state=IN_PROGRESS", both],
  ["state=DELIVERED,CANCELLED", []],
];

const ofLetters = (): readonly Case[] => [
  ["responseStatus=418", ["a"]],
  ["responseStatus=418,503", both],
  ["responseStatus=0", []],
  [`dlqIds=${b.dlqId}`, ["b"]],
  [`dlqIds=${a.dlqId}&dlqIds=${b.dlqId}`, both],
  [`dlqIds=${b.dlqId}&label=label-a`, []],
];

describe.each(listNames)("a list at %s", (list) => {
  const { isOfLog, key, order, countMax } = lists[list];

  it("has the items of each of its filters, and no others", async () => {
    const cases = [...common(), ...(isOfLog ? ofLog() : ofLetters())];

    const all = await Promise.all(cases.map(async ([query]) => [query, await found(list, query)]));

    expect(all).toEqual(cases);
  });

  it.each(orders)("comes page by page without gap or repeat, %s", async (inOrder) => {
    const whole = await listed(list, `label=shared&order=${inOrder}`);
    const pages: Json[] = [];

    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const query: string = `label=shared&order=${inOrder}&count=1&cursor=${text(cursor)}`;
      const page: Reply = await asked(`${list}${query}`);
      expect(page.list(key)).toHaveLength(1);
      pages.push(...page.list(key));
      const next: unknown = page.object()["cursor"];
      cursor = next === undefined ? undefined : textOf(next);
    }

    expect(pages).toEqual(whole);
    expect((await listed(list, "label=shared")).length).toBe(whole.length);
    if (inOrder === order) expect(await listed(list, "label=shared")).toEqual(whole);
    const named = whole.map(({ messageId }) => messageId);
    const ends = [named[0], named.at(-1)];
    const [first, last] = inOrder === "earliestFirst" ? [a, b] : [b, a];
    expect(ends).toEqual([first.messageId, last.messageId]);
  });

  it("begins at a time in Unix milliseconds given as cursor", async () => {
    const at = b.createdAt;

    expect(await found(list, `order=earliestFirst&cursor=${at}`)).toEqual(["b"]);
    expect(await found(list, `order=latestFirst&cursor=${at - 1}`)).toEqual(["a"]);
    expect(await found(list, "order=latestFirst&cursor=1")).toEqual([]);
  });

  it("refuses a cursor that was changed, or made for another filter, list or tenant", async () => {
    const reply = await asked(`${list}label=shared&count=1`);
    const cursor = textOf(reply.object()["cursor"]);
    const flipped = cursor.slice(0, 5) + (cursor[5] === "A" ? "B" : "A") + cursor.slice(6);
    const elsewhere = isOfLog ? "/v2/dlq?" : "/v2/events?";
    const same = `label=shared&count=1&cursor=${text(cursor)}`;

    const refused = [
      await asked(`${list}label=shared&count=1&cursor=${flipped}`),
      await asked(`${list}label=shared&count=1&cursor=${cursor.slice(0, -1)}`),
      await asked(`${list}count=1&cursor=${cursor}`),
      await asked(`${elsewhere}${same}`),
      await other.get(`${list}${same}`),
    ];

    for (const each of refused) {
      expect(each.status).toBe(400);
      expect(each.error()).toMatch(/^cursor: /);
    }
    expect((await asked(`${list}${same}`)).status).toBe(200);
  });

  it("has as many items on a page as count allows at most", async () => {
    expect(await found(list, `count=${countMax}`)).toEqual(both);
    expect(await listed(list, "count=1")).toHaveLength(1);
  });
});

it.each(bulkOfLetters)(
  "%s takes the items that the list has for the same filters",
  async (route) => {
    const cases = [...common(), ...ofLetters()].filter(([query]) => !query.startsWith("api="));
    const matched = async ([query]: Case) =>
      [query, (await change(route, `${query}&dryRun=true`)).object()["matched"]] as const;

    const counts = await Promise.all(cases.map(matched));

    expect(counts).toEqual(cases.map(([query, names]) => [query, names.length]));
    const inBody = await change(route, "", { label: ["none", "label-a"], dryRun: true });
    const timed = await change(route, `cursor=${b.createdAt}&dryRun=true`);
    expect([inBody, timed].map((reply) => reply.object()["matched"])).toEqual([1, 1]);
  },
);

/** Filters for live messages, each with a value for the first message and one for the second. */
const ofLive = (): readonly (readonly [name: string, ofA: string, ofB: string])[] => [
  ["url", a.url, b.url],
  ["host", `127.0.0.1:${a.destination.port}`, `127.0.0.1:${b.destination.port}`],
  ["path", "/a", "/b"],
  ["label", "label-a", "label-b"],
  ["flowControlKey", "key-a", "key-b"],
  ["queueName", "queue-a", "queue-b"],
  ["topicName", "group-a", "group-b"],
  ["callerIp", "127.0.0.1", "127.0.0.2"],
];

describe("DELETE /v2/messages", () => {
  const cancelled = async (query: string, body?: object): Promise<unknown> =>
    (await change("DELETE /v2/messages", query, body)).object()["cancelled"];
  const isGone = async (id: string): Promise<boolean> =>
    (await client.delete(`/v2/messages/${id}`)).status === 404;

  it("cancels the messages of each of its filters, and no others", async () => {
    for (const [name, ofA, ofB] of ofLive()) {
      const [one] = await Promise.all([held(0), held(1)]);

      expect([name, await cancelled(`${name}=${text(ofA)}`)]).toEqual([name, 1]);
      expect([name, await isGone(one)]).toEqual([name, true]);
      expect([name, await cancelled("", { [name]: [ofA, ofB], count: 9 })]).toEqual([name, 1]);
    }
  });

  it("cancels messages made between two times, and at most count of them", async () => {
    const one = await held(0);
    const from = await createdAt(one);
    const two = await held(1);
    const to = (await createdAt(two)) - 1;

    expect(await cancelled(`toDate=${from - 1}`)).toBe(0);
    expect(await cancelled(`fromDate=${to + 2}`)).toBe(0);
    expect(await cancelled(`fromDate=${from}&toDate=${to}`)).toBe(1);
    expect(await isGone(one)).toBe(true);
    await held(0);
    expect(await cancelled("label=shared&scheduleId=none")).toBe(0);
    expect(await cancelled("label=shared&count=1")).toBe(1);
    expect(await cancelled("label=shared&count=500")).toBe(1);
  });
});

describe("a refused list or bulk call names the parameter, and changes nothing", () => {
  const filters = ["url", "label", "flowControlKey", "queueName", "topicName", "scheduleId"].concat(
    ["callerIp", "callerIP", "fromDate", "toDate", "messageId", "messageIds"],
  );
  const places = ["host", "path"];
  const paging = ["cursor", "count"];
  const shown = ["order", "trimBody"];
  const letters = ["responseStatus", "dlqIds"];
  const known: Readonly<Record<List | Bulk, readonly string[]>> = {
    "/v2/events?": [...filters, ...places, ...paging, ...shown, "state", "wait"],
    "/v2/logs?": [...filters, ...places, ...paging, ...shown, "state", "groupBy"],
    "/v2/logs?groupBy=messageId&": [...filters, ...places, ...paging, ...shown, "state", "groupBy"],
    // With `source=workflow` this lists failed runs, which have a suite of their own.
    "/v2/dlq?": [...filters, ...letters, ...paging, ...shown, "source"],
    "DELETE /v2/messages": [...filters, ...places, "count", "async", "dryRun"],
    "DELETE /v2/dlq": [...filters, ...letters, ...paging, "dryRun"],
    "POST /v2/dlq/retry": [...filters, ...letters, ...paging, "dryRun"],
  };
  const all = [...new Set(Object.values(known).flat()), "labeel", "label[$ne]", "Label", "tenant"];
  const unknownTo = (route: List | Bulk): readonly string[] =>
    all.filter((name) => !known[route].includes(name));

  const isBulk = (route: List | Bulk): route is Bulk => route in bulk;
  const ask = (route: List | Bulk, query: string, body?: object): Promise<Reply> =>
    isBulk(route)
      ? eventually(
          () => change(route, query, body),
          ({ status }) => status !== 429,
        )
      : asked(`${route}${query}`);

  /** Wrong values, beside the empty value of each filter. */
  const wrong: Readonly<Record<string, readonly string[]>> = {
    count: ["0", "-1", "1.5", "1e1", "１０", ""],
    order: ["newest"],
    trimBody: ["x", "-2"],
    cursor: ["x", "AAAA", "9".repeat(16), "x".repeat(1_025)],
    state: ["DONE", "created"],
    responseStatus: ["teapot", "-1", "1000"],
    fromDate: ["yesterday", "9e99", "-1"],
    toDate: ["tomorrow"],
    callerIp: ["localhost", "127.0.0.1,127.0.0"],
    topicName: ["a/b"],
    queueName: ["a b"],
    scheduleId: ["a%00"],
    groupBy: ["label"],
    async: ["yes"],
    dryRun: ["1"],
    wait: ["61"],
  };
  const many = Array.from({ length: 1_001 }, (_, n) => n).join(",");

  function queriesTo(route: List | Bulk): readonly (readonly [name: string, query: string])[] {
    const { countMax } = isBulk(route) ? bulk[route] : lists[route];
    const its = known[route].filter((name) => !route.includes(`${name}=`));
    return [
      ...unknownTo(route).map((name) => [name, `${name}=1`] as const),
      // Some clients ask for the first page with an empty cursor.
      ...known[route]
        .filter((name) => name !== "cursor")
        .map((name) => [name, `${name}=`] as const),
      ...its.flatMap((name) =>
        (wrong[name] ?? []).map((value) => [name, `${name}=${text(value)}`] as const),
      ),
      ["count", `count=${countMax + 1}`],
      ["count", "count=1&count=1"],
      ["fromDate", "fromDate=2&toDate=1"],
      ["label", `label=${many}`],
    ];
  }

  function bodiesTo(route: List | Bulk): readonly (readonly [name: string, body: object])[] {
    if (!isBulk(route)) return [];
    return [
      ...unknownTo(route).map((name) => [name, { [name]: "1" }] as const),
      ["label", { label: "" }],
      ["label", { label: ["x", ""] }],
    ];
  }

  it.each(bulkNames)("400 for %s with both a query and a body", async (route) => {
    const reply = await change(route, "label=none", { label: "none" });

    expect([reply.status, reply.error()]).toEqual([400, expect.stringMatching(/^body: /)]);
  });

  it.each([...listNames, ...bulkNames])("400 for %s", async (route) => {
    const live = await held(0);
    const before = await listed("/v2/dlq?", "");
    const refusedAs = (name: string, reply: Reply): void => {
      expect([name, reply.status]).toEqual([name, 400]);
      expect(reply.error()).toMatch(
        known[route].includes(name)
          ? new RegExp(`^${name}: `)
          : `unknown parameter ${JSON.stringify(name)}`,
      );
    };

    await Promise.all([
      ...queriesTo(route).map(async ([name, query]) => refusedAs(name, await ask(route, query))),
      ...bodiesTo(route).map(async ([name, body]) => refusedAs(name, await ask(route, "", body))),
    ]);

    expect(await listed("/v2/dlq?", "")).toEqual(before);
    expect((await client.delete(`/v2/messages/${live}`)).status).toBe(202);
  });
});
