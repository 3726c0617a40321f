/** Tests many publishes in one request (docs/design/batch.md). */
import { beforeAll, describe, expect, it } from "@jest/globals";
import { type Reply } from "./client.ts";
import { dialects, inDialect, service } from "./dialects.ts";
import { listOf, objectOf, textOf } from "./json.ts";
import { client, destination, nothingElseArrives, startBeforeTests } from "./suite.ts";

startBeforeTests();

beforeAll(async () => {
  const endpoints = ["/group/a", "/group/b"].map((path) => ({ url: destination.url(path) }));
  await client.postJson("/v2/topics/batched/endpoints", { endpoints });
});

const batch = (items: unknown, headers = {}): Promise<Reply> =>
  client.post("/v2/batch", headers, JSON.stringify(items));
const to = (path: string, more: object = {}) => ({ destination: destination.url(path), ...more });
/** Returns an element for each item: an object, or a list of them for a group. */
function elementsOf(reply: Reply): readonly unknown[] {
  const elements: unknown = reply.json();
  if (!Array.isArray(elements)) throw new Error(reply.text);
  return elements;
}
const idsOf = (reply: Reply): readonly string[] =>
  listOf(reply.json()).map((element) => textOf(element["messageId"]));

describe.each(dialects)("a batch with $prefix headers", ({ prefix }) => {
  const path = (name: string): string => `/${prefix}${name}`;
  const given = (settings: Record<string, string>) => inDialect(prefix, settings);
  const lower = prefix.toLowerCase();

  it("200 delivers each item with its own headers and body, and answers in the order of the items", async () => {
    const reply = await batch([
      to(path("one"), { headers: given({ Method: "PUT", "Forward-X": "1" }), body: '{"é":1}' }),
      to(path("two"), { headers: { [`${lower}retries`]: "7", "content-type": "text/x" } }),
    ]);

    const [one, two] = [
      await destination.arrival(path("one")),
      await destination.arrival(path("two")),
    ];
    expect(reply.status).toBe(200);
    expect(reply.json()).toMatchObject([
      { messageId: one.headers[`${lower}message-id`], url: destination.url(path("one")) },
      { messageId: two.headers[`${lower}message-id`], url: destination.url(path("two")) },
    ]);
    expect(one).toMatchObject({ method: "PUT", body: Buffer.from('{"é":1}') });
    expect(one.headers["x"]).toBe("1");
    expect(two.headers["content-type"]).toBe("text/x");
    expect(two.body).toHaveLength(0);
  });

  it("200 sends the first item of a deduplication id, and flags the later items with the same id in their places", async () => {
    const headers = given({ "Deduplication-Id": `${prefix}same` });

    const first = await batch([to(path("dup/1"), { headers }), to(path("dup/2"), { headers })]);
    const second = await batch([to(path("dup/3")), to(path("dup/4"), { headers })]);

    const [id] = idsOf(first);
    expect(first.json()).toEqual([
      { messageId: id, url: destination.url(path("dup/1")) },
      { messageId: id, url: destination.url(path("dup/2")), deduplicated: true },
    ]);
    expect(second.list()[1]).toEqual({
      messageId: id,
      url: destination.url(path("dup/4")),
      deduplicated: true,
    });
    await destination.arrival(path("dup/1"));
    await destination.arrival(path("dup/3"));
    await nothingElseArrives();
    expect(destination.at(path("dup/2"))).toEqual([]);
    expect(destination.at(path("dup/4"))).toEqual([]);
  });

  it("200 ignores settings in the headers of the batch request itself", async () => {
    const reply = await batch([to(path("own"))], given({ Delay: "1h", "Deduplication-Id": "x" }));

    expect(reply.status).toBe(200);
    await destination.arrival(path("own"));
  });
});

describe("200", () => {
  it("answers an array for an item to a URL group, and delivers to each endpoint", async () => {
    const reply = await batch([
      to("/before"),
      { destination: "batched", body: "g" },
      to("/behind"),
    ]);

    const [before, group, behind] = elementsOf(reply);
    expect([before, behind]).toMatchObject(
      ["/before", "/behind"].map((path) => ({ url: destination.url(path) })),
    );
    expect(listOf(group).map(({ url }) => url)).toEqual(
      ["/group/a", "/group/b"].map((path) => destination.url(path)),
    );
    for (const path of ["/group/a", "/group/b", "/before", "/behind"])
      await destination.arrival(path);
  });

  it("takes a thousand items, which can all be read at once, and delivers each once", async () => {
    const items = Array.from({ length: 1_000 }, (_, i) => to("/thousand", { body: String(i) }));

    const reply = await batch(items);

    const ids = idsOf(reply);
    expect(new Set(ids).size).toBe(1_000);
    expect((await client.get(`/v2/messages/${ids.at(-1)}`)).status).toBe(200);
    const arrivals = await destination.arrivals("/thousand", 1_000);
    await nothingElseArrives();
    expect(destination.at("/thousand")).toHaveLength(1_000);
    expect(new Set(arrivals.map(({ body }) => body.toString())).size).toBe(1_000);
  });

  it("delivers the items of a queue one after the other, in the order of the batch", async () => {
    let running = 0;
    let mostAtOnce = 0;
    destination.answers("/queued", (_, response) => {
      mostAtOnce = Math.max(mostAtOnce, ++running);
      setTimeout(() => {
        running--;
        response.end();
      }, 5);
    });
    const bodies = Array.from({ length: 30 }, (_, i) => String(i));

    await batch(bodies.map((body) => to("/queued", { queue: "in-order", body })));

    const arrivals = await destination.arrivals("/queued", bodies.length);
    expect(arrivals.map(({ body }) => body.toString())).toEqual(bodies);
    expect(mostAtOnce).toBe(1);
  });

  it("answers an empty batch with an empty array", async () => {
    expect((await batch([])).json()).toEqual([]);
  });
});

/** Items that refuse the batch, and the text of the refusal. */
describe.each<[number, string, unknown, string]>([
  [400, "no destination", {}, "[1].destination: must be a string"],
  [400, "a bad header", { headers: { "Upstash-Retries": "x" } }, "[1].headers: Upstash-Retries: "],
  [
    400,
    "both prefixes",
    { headers: { "Upstash-Retries": "1", "Service-Delay": "1s" } },
    "[1].headers: ",
  ],
  [400, "a body that is no text", { body: { a: 1 } }, "[1].body: must be a string"],
  [400, "a queue that is no name", { queue: "a b" }, "[1].queue: "],
  [
    404,
    "a group that is not there",
    { destination: "nobody" },
    "[1].destination: topic nobody not found",
  ],
  [
    412,
    "a delay beyond the plan",
    { headers: { "Service-Delay": "9999d" } },
    "[1].headers: quota maxDelay",
  ],
  [
    413,
    "a body beyond the plan",
    { body: "x".repeat(10 * 1024 * 1024 + 1) },
    "[1].body: quota maxMessageSize",
  ],
])("a batch with a wrong item: %i", (status, what, changed, text) => {
  it(`names the item and field of ${what}, and nothing of the batch is stored`, async () => {
    const path = `/refused/${status}/${what.replaceAll(" ", "-")}`;
    const key = service({ "Deduplication-Id": path });
    const second = what === "no destination" ? {} : to(path, objectOf(changed));

    const reply = await batch([to(path, { headers: key }), second, to(path)]);

    expect(reply.status).toBe(status);
    expect(reply.error()).toContain(text);
    expect(reply.error().indexOf("[1].")).toBe(0);
    // The key is free, so it was never claimed.
    expect((await client.publish(destination.url("/refused"), key)).status).toBe(200);
    await nothingElseArrives();
    expect(destination.at(path)).toEqual([]);
  });
});

describe("a batch of more than one kind", () => {
  const run = (id: string, isStart: boolean) => ({
    "Upstash-Workflow-RunId": id,
    "Upstash-Workflow-Init": String(isStart),
  });
  const start = (id: string, path: string) => to(path, { headers: run(id, true) });
  const step = (id: string, path: string) =>
    to(path, {
      headers: { ...run(id, false), "Upstash-Workflow-CallType": "step" },
      body: JSON.stringify({
        stepId: 1,
        stepName: "one",
        stepType: "Run",
        out: "1",
        concurrent: 1,
      }),
    });
  const ids = ["steps-1", "steps-2"];
  const histories = () =>
    Promise.all(ids.map(async (id) => (await client.get(`/v2/workflows/runs/${id}`)).text));
  beforeAll(async () => {
    const mark = { "Upstash-Workflow-Sdk-Version": "1", "Upstash-Workflow-Sdk": "v1.3.3" };
    destination.answers("/mixed/run", (_, response) => response.writeHead(200, mark).end());
    for (const id of ids)
      await client.post(`/v2/trigger/${destination.url("/mixed/run")}`, run(id, true));
  });

  it.each<[string, number, () => readonly object[]]>([
    ["a message and a start", 400, () => [to("/mixed/a"), start("mixed-a", "/mixed/a")]],
    ["a start and a message", 400, () => [start("mixed-b", "/mixed/b"), to("/mixed/b")]],
    // The step's endpoint would read 400 as the end of its run.
    ["a step and a message", 412, () => [step("steps-1", "/mixed/c"), to("/mixed/c")]],
    ["a message and a step", 412, () => [to("/mixed/d"), step("steps-1", "/mixed/d")]],
    ["a start and a step", 412, () => [start("new", "/mixed/e"), step("steps-1", "/mixed/e")]],
    ["steps of two runs", 412, () => [step("steps-1", "/mixed/f"), step("steps-2", "/mixed/f")]],
  ])("%s is refused with %i, and nothing of the batch is published", async (_, status, items) => {
    const before = await histories();

    const reply = await batch(items());

    expect(reply.status).toBe(status);
    expect(reply.error()).toMatch(/^\[1\]: a batch holds messages, or starts of runs, or steps/);
    expect(await histories()).toEqual(before);
    await nothingElseArrives();
    expect(destination.paths.filter((path) => /^\/mixed\/[a-f]/.test(path))).toEqual([]);
  });

  it("is refused for the first wrong item rather than for its mixed kinds", async () => {
    const reply = await batch([
      to("/mixed/g"),
      start("mixed-g", "/mixed/g"),
      to("/mixed/g", { queue: "a b" }),
    ]);

    expect([reply.status, reply.error()]).toEqual([400, expect.stringContaining("[2].queue: ")]);
  });
});

describe("400", () => {
  it.each(["", '{"destination":"https://a.b"}'])(
    "is the answer to %j, which is not an array of items",
    async (body) => {
      const reply = await client.post("/v2/batch", {}, body);

      expect(reply.status).toBe(400);
      expect(reply.error()).toMatch(/^body: |^\[0\]/);
    },
  );
});
