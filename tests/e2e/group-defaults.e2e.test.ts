/** Tests default headers of a URL group (docs/design/wire#url-groups). */
import { beforeEach, describe, expect, it } from "@jest/globals";
import { dialects, inDialect, service } from "./dialects.ts";
import { listOf, objectOf, textOf } from "./json.ts";
import { readOnlyToken } from "./users.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

startBeforeTests({ readOnlyToken });

let groups = 0;
let name = "";
let path = "";

beforeEach(async () => {
  name = `group-${++groups}`;
  path = `/${name}`;
  const endpoints = JSON.stringify({ endpoints: [{ url: destination.url(path) }] });
  await client.post(`/v2/topics/${name}/endpoints`, {}, endpoints);
});

const configure = (headers: unknown, by = client) =>
  by.call("PATCH", `/v2/topics/${name}`, {}, JSON.stringify({ headers }));

const group = async () => (await client.get(`/v2/topics/${name}`)).object();

async function published(headers: Parameters<typeof service>[0] = {}) {
  const held = service({ Delay: "1h", ...headers });
  const [made] = listOf((await client.publish(name, held)).json());
  const id = textOf(objectOf(made)["messageId"]);
  return (await client.get(`/v2/messages/${id}`)).object();
}

describe.each(dialects)("default headers with the prefix $prefix", ({ prefix }) => {
  it("apply to a publish that does not give its own, and are shown with the group", async () => {
    const headers = inDialect(prefix, {
      Retries: "7",
      "Forward-X-Mine": ["a", "b"],
      Method: "PUT",
    });

    const reply = await configure(headers);

    expect([reply.status, reply.text]).toEqual([200, ""]);
    expect((await group())["headers"]).toEqual(headers);
    expect(await published()).toMatchObject({
      maxRetries: 7,
      method: "PUT",
      header: { "X-Mine": ["a", "b"] },
    });
  });

  it("yield to the settings of the publish, each by itself", async () => {
    const defaults = {
      Retries: "7",
      Method: "PUT",
      "Forward-X-Mine": "default",
      "Forward-X-Kept": "1",
    };
    await configure(inDialect(prefix, defaults));

    const message = await published({ Retries: "2", "Forward-x-mine": "own" });

    expect(message).toMatchObject({
      maxRetries: 2,
      method: "PUT",
      header: { "X-Mine": ["own"], "X-Kept": ["1"] },
    });
  });

  it("apply to the items of a batch", async () => {
    await configure(inDialect(prefix, { Retries: "7", Method: "PUT" }));
    const headers = service({ Delay: "1h", Method: "GET" });
    const items = [
      { destination: name, headers },
      { destination: "https://example.com", headers: service({ Delay: "1h" }) },
    ];

    const answers = (await client.postJson("/v2/batch", items)).json();

    const ids = listOf([answers].flat(2)).map((answer) => textOf(answer["messageId"]));
    const messages = await Promise.all(ids.map((id) => client.get(`/v2/messages/${id}`)));
    expect(messages.map((message) => message.object()["maxRetries"])).toEqual([7, 3]);
    expect(messages[0]?.object()).toMatchObject({ method: "GET" });
  });

  it("do not set the dialect: deliveries use that of the publish", async () => {
    await configure(inDialect(prefix, { "Forward-X-Mine": "kept" }));

    await client.publish(name, { "Upstash-Method": "POST" });

    const { headers } = await destination.arrival(path);
    expect(headers).toMatchObject({ "upstash-topic-name": name, "x-mine": "kept" });
  });
});

describe("PATCH /v2/topics/{name}", () => {
  it("400 names an unknown field", async () => {
    const body = JSON.stringify({ headers: {}, header: {} });

    const reply = await client.call("PATCH", `/v2/topics/${name}`, {}, body);

    expect([reply.status, reply.error()]).toEqual([
      400,
      'body: unknown field "header"; known names: headers',
    ]);
  });

  it("400 refuses a value as a read shows it, where the headers redact it", async () => {
    const headers = { "Service-Redact-Fields": "headers", "Service-Forward-X-Card": "4242" };
    await configure(headers);
    const { headers: shown } = (await client.get(`/v2/topics/${name}`)).object();
    expect(shown).not.toEqual(headers);

    const reply = await configure(shown);

    expect([reply.status, reply.error()]).toEqual([
      400,
      "headers.Service-Forward-X-Card: is redacted: give the value itself",
    ]);
  });

  it("200 replaces all default headers, and an empty object clears them", async () => {
    await configure({ "Service-Retries": "7" });
    await configure({ "Service-Method": "PUT" });
    expect((await group())["headers"]).toEqual({ "Service-Method": "PUT" });

    await configure({});

    expect(await group()).not.toHaveProperty("headers");
    expect(await published()).toMatchObject({ method: "POST", maxRetries: 3 });
  });

  it("keeps the default headers when the endpoints change", async () => {
    await configure({ "Service-Retries": "7" });

    const endpoints = JSON.stringify({ endpoints: [{ url: destination.url("/more") }] });
    await client.post(`/v2/topics/${name}/endpoints`, {}, endpoints);

    expect((await group())["headers"]).toEqual({ "Service-Retries": "7" });
  });

  it("404 for a group that does not exist, which is not made", async () => {
    name = "nobody's".replace("'", "-");

    const reply = await configure({ "Service-Retries": "7" });

    expect([reply.status, reply.error()]).toEqual([404, `topic ${name} not found`]);
    expect((await client.get(`/v2/topics/${name}`)).status).toBe(404);
  });

  it.each([
    [{ "Service-Retries": "x" }, 400, "Service-Retries"],
    [{ "Service-Retries": ["1", "2"] }, 400, "Service-Retries: must be given once"],
    [{ "Service-Retries": "1", "Upstash-Method": "PUT" }, 400, "must not mix both prefixes"],
    [{ "Service-Flow-Control-Key": "k" }, 400, "Flow-Control-Value"],
    [{ "Service-Callback": "ftp://x" }, 400, "Service-Callback"],
    [{ "Service-Forward-X": "a\nb" }, 400, "Service-Forward-X"],
    [{ "X-Mine": "1" }, 400, "headers.X-Mine: must be a configuration header"],
    [{ "Service-Retrys": "1" }, 400, "headers.Service-Retrys: must be a configuration header"],
    [{ "Service-Retries": 3 }, 400, "headers.Service-Retries: must be a text or a list of texts"],
    ["Service-Retries: 3", 400, "headers: must be an object"],
    [{ "Service-Retries": "1001" }, 412, "quota maxRetries exceeded"],
  ])("%j is refused with %i, and changes nothing", async (headers, status, text) => {
    await configure({ "Service-Method": "PUT" });

    const reply = await configure(headers);

    expect(reply.status).toBe(status);
    expect(reply.error()).toContain(text);
    expect((await group())["headers"]).toEqual({ "Service-Method": "PUT" });
  });
});
