/** Tests the command line against a server (docs/cli.md): each command, and the text of each failure. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { eventually } from "./client.ts";
import { CommandLine } from "./command-line.ts";
import { Destination } from "./destination.ts";
import { numberOf, textOf } from "./json.ts";
import { operatorEnv, operatorPassword, operatorUser } from "./operator.ts";
import { developmentToken } from "./server-process.ts";
import { startServer, type TestServer } from "./server.ts";

const folder = temporaryFolder();
const openList = join(folder, "list.json");
writeFileSync(openList, "[{");

let server: TestServer;
let destination: Destination;
let cli: CommandLine;

beforeAll(async () => {
  server = await startServer({ env: operatorEnv });
  destination = await Destination.start();
  cli = new CommandLine({
    POSTHASTE_URL: `http://127.0.0.1:${server.port}`,
    POSTHASTE_TOKEN: developmentToken,
    POSTHASTE_MANAGEMENT_URL: `http://127.0.0.1:${server.managementPort}`,
    POSTHASTE_MANAGEMENT_USER: operatorUser,
    POSTHASTE_MANAGEMENT_PASSWORD: operatorPassword,
  });
});
afterAll(async () => {
  await destination.stop();
  await server.stop();
});

const published = async (...words: readonly string[]): Promise<string> =>
  textOf((await cli.ok("publish", ...words))[0]?.["messageId"]);

describe("messages", () => {
  it("are published with settings, headers and body, from arguments, a file or stdin", async () => {
    const to = destination.url("/published");
    await published("-H", "X-Shop: north: 1", "--label", "cli", to, "-d", '{"a":1}');
    await cli.run(["enqueue", "cli-queue", to, "--data", "@-"], { stdin: "from stdin" });
    const items = JSON.stringify([{ destination: to, body: "one" }, { destination: to }]);
    const batch = await cli.run(["batch", "-"], { stdin: items });

    expect(batch.json).toHaveLength(2);
    const none = await cli.run(["batch", "-"], { stdin: "[]", isTerminal: true });
    expect([none.code, none.out]).toEqual([0, "0 messages published: the list is empty\n"]);
    const arrivals = await eventually(
      () => Promise.resolve(destination.at("/published")),
      ({ length }) => length === 4,
    );
    const first = arrivals.find(({ headers }) => headers["x-shop"] !== undefined);
    expect(first?.headers).toMatchObject({
      "x-shop": "north: 1",
      "content-type": "application/json",
    });
    expect(arrivals.map(({ body }) => String(body)).toSorted()).toEqual([
      "",
      "from stdin",
      "one",
      '{"a":1}',
    ]);
  });

  it("have the bytes of stdin or a file as their body, also where these are no text", async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xc3, 0x28]);
    const file = join(folder, "bytes");
    writeFileSync(file, bytes);
    for (const [path, data] of [
      ["/bytes-of-stdin", "@-"],
      ["/bytes-of-a-file", `@${file}`],
    ] as const) {
      await cli.run(["publish", destination.url(path), "-d", data], { stdin: bytes });

      expect((await destination.arrival(path)).body.equals(bytes)).toBe(true);
    }
    const edited = ["publish", "--edit", destination.url("/edited-bytes"), "-d", `@${file}`];
    expect(await cli.run(edited, { env: { EDITOR: "true" } })).toMatchObject({
      code: 2,
      err: "posthaste: --edit: the body is not text\n",
    });
    const item = Buffer.from('{"destination":"http://a.example","body":"\xff"}', "latin1");
    expect(await cli.run(["batch", "-"], { stdin: item })).toMatchObject({
      code: 2,
      err: "posthaste: batch: - is not UTF-8\n",
    });
  });

  it("are published from any number of lines of JSON, and none where one line is invalid", async () => {
    const line = JSON.stringify({ destination: destination.url("/lines"), headers: {} });
    const lines = Array.from({ length: 1_003 }, () => line);
    const { code, json } = await cli.run(["batch", "-"], { stdin: `${lines.join("\n")}\n\n` });
    expect([code, new Set(json.map(({ messageId }) => messageId)).size]).toEqual([0, 1_003]);

    const interruption = new AbortController();
    const stopped = await cli.run(["batch", "-"], {
      stdin: Array.from({ length: 2_500 }, () => line).join("\n"),
      interrupted: interruption.signal,
      heard: () => interruption.abort(),
    });
    expect([stopped.code, stopped.err, stopped.json.length]).toEqual([
      130,
      "posthaste: interrupted: 1000 lines published, the rest was not sent\n",
      1_000,
    ]);

    const broken = await cli.run(["batch", "-"], { stdin: `${line}\n\n{"destination":\n` });
    expect([broken.code, broken.err]).toEqual([2, "posthaste: batch: line 3 is not JSON\n"]);
  });

  it.each([
    [["messages", "ls"], "posthaste: interrupted: the list ends after 0\n"],
    [["publish", "https://shop.example/", "-d", "@-"], "posthaste: interrupted\n"],
    [["messages", "show", "msg_1"], "posthaste: interrupted\n"],
  ])("are interrupted at once by Ctrl-C: %j", async (words, said) => {
    const { code, err } = await cli.run(words, { interrupted: AbortSignal.abort() });

    expect([code, err]).toEqual([130, said]);
  });

  it("are left alone by the bare command, which prints its help", async () => {
    const { code, err, out } = await cli.run([]);

    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^Usage: posthaste /);
  });

  it("are found by each filter of the command line, which the server knows", async () => {
    const filters = {
      "--destination": destination.url("/none"),
      ...{ "--group": "g", "--schedule": "s", "--queue": "q", "--label": "l", "--flow-key": "f" },
      ...{ "--caller-ip": "127.0.0.1", "--from": "2026-01-31", "--to": "1800000000000" },
    };
    const all = Object.entries(filters).flat();
    const ofRuns = all.slice(all.indexOf("--label"));
    expect(await cli.ok("messages", "ls", ...all, "--message", "m", "--state", "FAILED")).toEqual(
      [],
    );
    expect(await cli.ok("messages", "cancel", ...all)).toEqual([{ dryRun: true, matched: 0 }]);
    expect(await cli.ok("dlq", "ls", ...all, "--status", "500")).toEqual([]);
    const more = ["--workflow", destination.url("/none"), ...ofRuns];
    expect(await cli.ok("runs", "ls", ...more, "--run", "r", "--state", "RUN_FAILED")).toEqual([]);
    expect(await cli.ok("runs", "cancel", ...more)).toEqual([{ dryRun: true, matched: 0 }]);
    await published(destination.url("/found"), "--label", "found", "--label", "too");
    const found = () => cli.ok("messages", "ls", "--label", "found", "--from", "2026-01-31");
    expect(await eventually(found, ({ length }) => length >= 3)).toHaveLength(3);
  });

  it("are listed, shown, delivered now and cancelled, by their ids or by filters", async () => {
    const to = destination.url("/waiting");
    const [first, second] = [
      await published(to, "--delay", "1h", "--label", "held"),
      await published(to, "--delay", "1h", "--label", "held"),
    ];
    await published(to, "--delay", "1h", "--label", "held");
    const created = await eventually(
      () => cli.ok("messages", "ls", "--label", "held", "--state", "CREATED"),
      ({ length }) => length === 3,
    );
    expect(created.map((event) => event["messageId"])).toContain(first);
    expect((await cli.ok("messages", "show", first))[0]).toMatchObject({
      messageId: first,
      url: to,
    });

    await cli.ok("messages", "now", first);
    await destination.arrival("/waiting");
    expect(await cli.ok("messages", "cancel", second)).toEqual([{ cancelled: 1 }]);
    const matching = ["messages", "cancel", "--label", "held"];
    expect(await cli.ok(...matching)).toEqual([{ dryRun: true, matched: 1 }]);
    expect(await cli.ok(...matching, "--yes")).toEqual([{ cancelled: 1 }]);
    expect(await cli.ok(...matching, "--yes")).toEqual([{ cancelled: 0 }]);
  });

  it("are published as the editor leaves them", async () => {
    const words = ["publish", "--edit", destination.url("/written"), "-d", '{"order":17}'];
    const { code } = await cli.run(words, { env: { EDITOR: "sed -i s/17/18/" } });

    expect(code).toBe(0);
    expect(String((await destination.arrival("/written")).body)).toBe('{"order":18}');
  });

  it("are listed again and again with --watch, until Ctrl-C", async () => {
    const interruption = new AbortController();
    const asked = ["messages", "ls", "--label", "watched", "--watch", "1"];
    const watching = cli.run(asked, {
      interrupted: interruption.signal,
      heard: (out) => out.includes("DELIVERED") && interruption.abort(),
    });
    await published(destination.url("/watched"), "--label", "watched");

    expect([(await watching).code, (await watching).err]).toEqual([0, ""]);
    for (const seconds of ["x", "0", "86401"])
      expect((await cli.run([...asked.slice(0, -1), seconds])).code).toBe(2);
  });

  it("are followed as they happen, until Ctrl-C", async () => {
    const interruption = new AbortController();
    const words = ["tail", "--label", "followed", "--from", String(Date.now())];
    const tail = cli.run(words, {
      interrupted: interruption.signal,
      heard: (out) => out.split("\n").length > 6 && interruption.abort(),
    });
    const publish = ["--label", "followed", "-d", "the body"];
    await published(destination.url("/followed"), ...publish);
    await published(destination.url("/followed"), ...publish);
    const { code, json, err } = await tail;

    expect([code, err]).toEqual([0, ""]);
    expect(json.map(({ state }) => state).toSorted()).toEqual(
      ["ACTIVE", "CREATED", "DELIVERED"].flatMap((state) => [state, state]),
    );
    expect(json.map(({ body }) => body)).toEqual(json.map(() => undefined));
  });
});

describe("dead letters", () => {
  const failing = async (label: string, count: number) => {
    destination.answers(`/${label}`, (_, response) => response.writeHead(500).end());
    for (let n = 0; n < count; n++)
      await published(destination.url(`/${label}`), "--retries", "0", "--label", label);
    return eventually(
      () => cli.ok("dlq", "ls", "--label", label),
      ({ length }) => length === count,
    );
  };

  it("are listed, shown, retried and removed; a filter counts its matches before it acts", async () => {
    const [letter, second, third] = await failing("broken", 3);
    const newest = await cli.ok("dlq", "ls", "--label", "broken", "--limit", "2");
    expect(newest.map(({ dlqId }) => dlqId)).toEqual([letter?.["dlqId"], second?.["dlqId"]]);
    expect(textOf(letter?.["dlqId"]) > textOf(third?.["dlqId"])).toBe(true);
    const id = textOf(letter?.["dlqId"]);
    expect((await cli.ok("dlq", "show", id))[0]).toMatchObject({ dlqId: id, responseStatus: 500 });

    destination.answers("/broken", (_, response) => response.end("mended"));
    expect(await cli.ok("dlq", "retry", id)).toEqual([{ retried: 1 }]);
    expect(await cli.ok("dlq", "retry", "--label", "broken", "--status", "500")).toEqual([
      { dryRun: true, matched: 2 },
    ]);
    expect(await cli.ok("dlq", "ls", "--label", "broken")).toHaveLength(2);
    expect(await cli.ok("dlq", "rm", "--label", "broken", "--yes")).toEqual([{ removed: 2 }]);
    expect(await cli.ok("dlq", "ls", "--label", "broken")).toEqual([]);
  });

  it("are sent again with the body as the editor leaves it, and everything else unchanged", async () => {
    const to = destination.url("/edited");
    destination.answers("/edited", (_, response) => response.writeHead(422).end());
    const given = ["--retries", "0", "--label", "edited", "-H", "X-Shop: north", "--method", "PUT"];
    // A redacted header goes out unchanged.
    given.push("--redact-fields", "header[X-Shop]");
    await published(to, ...given, "-d", '{"order":"17"}');
    const [letter] = await eventually(
      () => cli.ok("dlq", "ls", "--label", "edited"),
      ({ length }) => length === 1,
    );
    const id = textOf(letter?.["dlqId"]);
    const retry = (EDITOR: string) => cli.run(["dlq", "retry", "--edit", id], { env: { EDITOR } });

    const unset = await retry("");
    const left = await retry("false");
    const broken = await retry("sed -i s/17.*/x/");
    expect([unset.code, left.code, broken.code]).toEqual([2, 1, 2]);
    expect(unset.err).toBe("posthaste: --edit: set EDITOR to the editor to open\n");
    expect(broken.err).toMatch(
      /the edited body is not JSON: nothing was sent, see .*body\.json\n$/,
    );
    expect(destination.at("/edited")).toHaveLength(1);

    destination.answers("/edited", (_, response) => response.end());
    const [retried] = (await retry("sed -i s/.17./17/")).json;
    expect(retried).toMatchObject({ dlqId: id });
    const [, again] = await eventually(
      () => Promise.resolve(destination.at("/edited")),
      ({ length }) => length === 2,
    );
    expect([String(again?.body), again?.method]).toEqual(['{"order":17}', "PUT"]);
    expect(again?.headers).toMatchObject({
      ...{ "x-shop": "north", "content-type": "application/json" },
    });
    expect(await cli.ok("dlq", "ls", "--label", "edited")).toEqual([]);
    const messageId = textOf(letter?.["messageId"]);
    const [made] = await eventually(
      () => cli.ok("messages", "show", textOf(retried?.["messageId"])),
      ([shown]) => shown?.["state"] === "DELIVERED",
    );
    expect(made).toMatchObject({ retryOf: { messageId, dlqId: id }, label: "edited" });
    // The id of the letter, which no longer exists.
    const [failed] = await cli.ok("dlq", "show", id);
    expect(failed).toMatchObject({ messageId, retriedAs: made?.["messageId"] });
  });

  it("that match a filter are retried after --yes", async () => {
    const [letter] = await failing("again", 2);
    destination.answers("/again", (_, response) => response.end("mended"));
    expect(await cli.ok("dlq", "retry", "--label", "again", "--yes")).toEqual([{ retried: 2 }]);
    expect(await cli.ok("dlq", "ls", "--label", "again")).toEqual([]);

    const { code, err } = await cli.run(["dlq", "retry", textOf(letter?.["dlqId"])]);
    expect([code, err.split("\n").length]).toEqual([5, 2]);
  });

  it("are counted in singular and plural", async () => {
    await failing("counted", 2);
    const onTerminal = { isTerminal: true };
    const many = await cli.run(["dlq", "rm", "--label", "counted"], onTerminal);
    const [letter] = await cli.ok("dlq", "ls", "--label", "counted");
    const one = await cli.run(["dlq", "rm", textOf(letter?.["dlqId"])], onTerminal);

    expect(many.out).toBe("2 dead letters would be removed; add --yes to do it\n");
    expect(one.out).toBe("1 dead letter removed\n");
  });

  describe("that are removed while Ctrl-C comes", () => {
    /** Starts a proxy before the server. The `n`th request with this method waits until `meanwhile` has happened. */
    async function behind(n: number, method: string, meanwhile: () => Promise<void>) {
      let asked = 0;
      const proxy = createServer((request, response) => {
        void (async () => {
          if (request.method === method && ++asked === n) await meanwhile();
          const answer = await fetch(`http://127.0.0.1:${server.port}${request.url ?? ""}`, {
            method: request.method ?? "GET",
            headers: { authorization: request.headers.authorization ?? "" },
          });
          response.writeHead(answer.status, { "content-type": "application/json" });
          response.end(Buffer.from(await answer.arrayBuffer()));
        })();
      });
      proxy.listen(0, "127.0.0.1");
      await once(proxy, "listening");
      const { port } = proxy.address() as AddressInfo;
      return { url: `http://127.0.0.1:${port}`, close: () => proxy.close() };
    }

    it("stay after the request under way, and the command says how many it removed", async () => {
      const items = Array.from({ length: 230 }, () => ({
        destination: destination.url("/stopped"),
        headers: { "Service-Retries": "0", "Service-Label": "stopped" },
      }));
      destination.answers("/stopped", (_, response) => response.writeHead(500).end());
      await cli.run(["batch", "-"], { stdin: JSON.stringify(items) });
      const letters = () => cli.ok("dlq", "ls", "--label", "stopped", "--limit", "1000");
      await eventually(letters, ({ length }) => length === items.length);

      const proxy = await behind(2, "DELETE", async () => {
        child.kill("SIGINT");
        await sleep(500);
      });
      const words = ["dlq", "rm", "--label", "stopped", "--yes", "--server", proxy.url];
      const child = cli.spawn(words);
      let err = "";
      child.stderr.on("data", (text: Buffer) => (err += text.toString()));
      const [code] = (await once(child, "close")) as [number];
      proxy.close();

      expect(code).toBe(130);
      const left = (await letters()).length;
      expect(left).toBe(30);
      expect(err).toBe("posthaste: interrupted: 200 dead letters removed, the rest is unchanged\n");
    });

    it("are reported as done where none is left", async () => {
      await failing("last", 1);
      const interruption = new AbortController();
      const proxy = await behind(1, "DELETE", async () => interruption.abort());
      const { code, json } = await cli.run(
        ["dlq", "rm", "--label", "last", "--yes", "--server", proxy.url],
        { interrupted: interruption.signal },
      );
      proxy.close();

      expect([code, json]).toEqual([0, [{ removed: 1 }]]);
    });
  });
});

describe("schedules, queues, groups, flow keys, signing keys and tenants", () => {
  it("schedules are set, listed, paused, resumed and removed", async () => {
    const to = destination.url("/scheduled");
    await cli.ok("schedules", "set", "0 9 * * *", to, "--id", "cli", "--data", "x");
    const cron = async () =>
      (await cli.ok("schedules", "ls")).find((each) => each["scheduleId"] === "cli");
    expect(await cron()).toMatchObject({ cron: "0 9 * * *", destination: to, isPaused: false });
    await cli.ok("schedules", "pause", "cli");
    expect((await cli.ok("schedules", "show", "cli"))[0]).toMatchObject({ isPaused: true });
    await cli.ok("schedules", "resume", "cli");
    expect(await cron()).toMatchObject({ isPaused: false });
    await cli.ok("schedules", "rm", "cli");
    expect(await cron()).toBeUndefined();
  });

  it("queues are set, listed, paused, resumed and removed", async () => {
    await cli.ok("queues", "set", "line", "--parallelism", "3");
    await cli.ok("queues", "pause", "line");
    expect((await cli.ok("queues", "show", "line"))[0]).toMatchObject({
      ...{ name: "line", parallelism: 3, paused: true },
    });
    await cli.ok("queues", "resume", "line");
    const names = async () => (await cli.ok("queues", "ls")).map((each) => each["name"]);
    expect(await names()).toContain("line");
    await cli.ok("queues", "rm", "line");
    expect(await names()).not.toContain("line");
  });

  it("URL groups get endpoints, lose them, and are removed", async () => {
    const [a, b] = [destination.url("/a"), destination.url("/b")];
    await cli.ok("groups", "add", "pair", a, b);
    await cli.ok("groups", "drop", "pair", a);
    expect((await cli.ok("groups", "show", "pair"))[0]?.["endpoints"]).toEqual([{ url: b }]);
    expect((await cli.ok("groups", "ls")).map(({ name }) => name)).toContain("pair");
    await cli.ok("groups", "rm", "pair");
    expect((await cli.run(["groups", "show", "pair"])).code).toBe(5);
  });

  it("flow control keys are pinned, paused, resumed, reset and unpinned", async () => {
    await cli.ok("flow", "pin", "carrier", "--parallelism", "2", "--rate", "5", "--period", "60");
    const key = async () => (await cli.ok("flow", "show", "carrier"))[0];
    expect(await key()).toMatchObject({ parallelismMax: 2, rateMax: 5, isPinnedRate: true });
    await cli.ok("flow", "pause", "carrier");
    expect(await key()).toMatchObject({ isPaused: true });
    await cli.ok("flow", "resume", "carrier");
    await cli.ok("flow", "reset-rate", "carrier");
    await cli.ok("flow", "unpin", "carrier", "--rate", "--parallelism");
    expect(await key()).toMatchObject({ isPaused: false, isPinnedRate: false });
    expect(await cli.ok("flow", "ls", "--search", "carr")).toHaveLength(1);
    await cli.ok("flow", "reset", "carrier");
  });

  it("signing keys are shown, and the next becomes the current one", async () => {
    const [before] = await cli.ok("keys", "show");
    expect(Object.keys(before ?? {})).toEqual(["current", "next"]);
    await cli.ok("keys", "rotate");
    const [after] = await cli.ok("keys", "show");
    expect(after?.["current"]).toBe(before?.["next"]);
    expect(after?.["next"]).not.toBe(before?.["next"]);
  });

  it("tenants and their tokens are the operator's", async () => {
    await cli.ok("tenants", "create", "shop");
    const [made] = await cli.ok("tenants", "token", "shop", "--read");
    const token = textOf(made?.["token"]);
    // No argument of a command line begins like an option.
    expect(made?.["id"]).toMatch(/^tok_/);
    const env = { POSTHASTE_TOKEN: token };
    expect((await cli.run(["queues", "ls"], { env })).code).toBe(0);
    const refused = await cli.run(["queues", "set", "q"], { env });
    expect([refused.code, refused.err]).toEqual([
      4,
      expect.stringMatching(/^posthaste: this token may not do that: .+\n$/),
    ]);
    const expires = ["--name", "mailer", "--expires", "2999-01-01T00:00:00Z"];
    const [ofQueue] = await cli.ok("tenants", "token", "shop", "--queue", "emails", ...expires);
    const listed = { scope: "queue:emails", name: "mailer", expiresAt: 32_472_144_000_000 };
    expect(ofQueue).toMatchObject(listed);
    const list = await cli.ok("tenants", "tokens", "shop");
    expect(list).toMatchObject([{ scope: "read" }, listed]);
    expect((await cli.run(["tenants", "token", "shop", "--read", "--publish"])).code).toBe(2);
    const all = await cli.ok("tenants", "audit", "shop");
    const byOperator = { by: { kind: "operator" }, resource: "/v2/tenants/shop/tokens" };
    expect(all[0]).toMatchObject({ ...byOperator, operation: "createToken", result: "done" });
    await cli.ok("queues", "pause", "audited");
    expect(await cli.ok("audit", "--limit", "1")).toMatchObject([
      { by: { kind: "token" }, operation: "pauseQueue", resource: "/v2/queues/audited/pause" },
    ]);
    await cli.ok("tenants", "revoke", "shop", textOf(made?.["id"]));
    await eventually(
      () => cli.run(["queues", "ls"], { env }),
      ({ code }) => code === 4,
    );
    expect((await cli.ok("tenants", "show", "shop"))[0]).toMatchObject({ id: "shop" });
    expect((await cli.ok("tenants", "ls")).map(({ id }) => id)).toContain("shop");
    expect((await cli.run(["tenants", "close", "shop"])).code).toBe(2);
    await cli.ok("tenants", "close", "shop", "--yes");
  });
});

describe("workflow runs", () => {
  it("are started, listed, shown as a tree, restarted, resumed, notified of events and cancelled", async () => {
    const to = destination.url("/no-workflow");
    const { workflowRunId } = (await cli.ok("runs", "start", to, "--id", "cli-run"))[0] ?? {};
    expect(workflowRunId).toBe("cli-run");
    const [run] = await eventually(
      () => cli.ok("runs", "ls", "--run", "cli-run", "--state", "RUN_FAILED"),
      ({ length }) => length === 1,
    );
    const dlqId = textOf(run?.["dlqId"]);
    const tree = await cli.run(["runs", "show", "cli-run"], { isTerminal: true });
    expect(tree.out).toMatch(
      /^cli-run {2}failed {2}\d{4}-.*Z\nerror .*\nstatus {2}200\nanswer {2}ok\n.*\/no-workflow\n├─ init .*\n└─ the next delivery {2}failed\n {3}└─ /,
    );
    expect(tree.out).toMatch(/only usable with sdk versions/);

    const again = (await cli.ok("runs", "restart", dlqId))[0];
    expect(textOf(again?.["workflowRunId"])).not.toBe("cli-run");
    expect((await cli.run(["runs", "resume", "cli-run"])).code).toBe(0);
    expect(await cli.ok("runs", "notify", "nothing waits")).toEqual([{ notified: 0 }]);
    await cli.ok("runs", "start", to, "--delay", "1h", "--label", "later");
    const cancel = ["runs", "cancel", "--label", "later"];
    expect(await cli.ok(...cancel)).toEqual([{ dryRun: true, matched: 1 }]);
    expect(await cli.ok(...cancel, "--yes")).toEqual([{ cancelled: 1 }]);
    expect((await cli.run(["runs", "show", "unknown"])).code).toBe(5);
  });

  it.each([
    ["restart", "restarted"],
    ["resume", "resumed"],
  ])(
    "that failed: %s takes those of a filter after --yes, each once, and those with given ids",
    async (does, done) => {
      const label = `to-${does}`;
      const to = destination.url(`/${label}`);
      const start = () => cli.ok("runs", "start", to, "--label", label);
      await Promise.all([start(), start(), start()]);
      const failed = (count: number) =>
        eventually(
          () => cli.ok("runs", "ls", "--label", label, "--state", "RUN_FAILED"),
          ({ length }) => length === count,
        );
      const [one, two] = (await failed(3)).map((run) => textOf(run["workflowRunId"]));
      const words = ["runs", does, "--label", label];

      expect(await cli.ok(...words)).toEqual([{ dryRun: true, matched: 3 }]);
      expect(await cli.ok(...words, "--yes", "--keep")).toEqual([{ [done]: 3 }]);
      await failed(6);
      expect(await cli.ok("runs", does, one ?? "", two ?? "")).toEqual([{ [done]: 2 }]);
      await failed(8);
      const { err, out } = await cli.run([...words, "--yes"], { isTerminal: true });
      expect(err).toContain("100 %");
      expect(out).toBe(`8 runs ${done}\n`);
      // The new runs failed as well. The old ones no longer have dead letters.
      await failed(16);
      expect(await cli.ok(...words)).toEqual([{ dryRun: true, matched: 8 }]);
      expect((await cli.run(["runs", does])).err).toMatch(/give ids, filters/);
    },
  );

  it("are shown with the results of their steps, and a run that starts with its payload", async () => {
    const to = destination.url("/shown");
    await cli.ok("runs", "start", to, "--id", "shown", "--delay", "1h", "-d", '{"order":17}');

    const tree = await cli.run(["runs", "show", "shown"], { isTerminal: true });

    expect(tree.out).toContain('└─ {"order":17}');
    await cli.ok("runs", "cancel", "shown");
  });

  it("are cancelled by filter, however many they are, and no run of another workflow", async () => {
    const [to, longer] = [destination.url("/many"), destination.url("/many/longer")];
    const start = (url: string) => cli.ok("runs", "start", url, "--delay", "1h");
    await Promise.all(Array.from({ length: 103 }, () => start(to)));
    await start(longer);

    const words = ["runs", "cancel", "--workflow", to];
    expect(await cli.ok(...words)).toEqual([{ dryRun: true, matched: 103 }]);
    expect(await cli.ok(...words, "--yes")).toEqual([{ cancelled: 103 }]);
    expect(await cli.ok("runs", "cancel", "--workflow", longer)).toEqual([
      { dryRun: true, matched: 1 },
    ]);
    expect(await cli.ok("runs", "cancel", "--all", "--yes")).toEqual([{ cancelled: 1 }]);
  });
});

describe("show", () => {
  const answer = '{"error":"no such order"}';
  let messageId: string;
  let dlqId: string;
  let runLetter: string;

  /** A proxy before the server that hides the record of every message. */
  let later: Server;
  let laterUrl: string;

  beforeAll(async () => {
    destination.answers("/why", (_, response) => response.writeHead(404).end(answer));
    messageId = await published(destination.url("/why"), "--retries", "0", "--label", "why");
    const [letter] = await eventually(
      () => cli.ok("dlq", "ls", "--label", "why"),
      ({ length }) => length === 1,
    );
    dlqId = textOf(letter?.["dlqId"]);
    await cli.ok("runs", "start", destination.url("/why"), "--id", "why-run", "--retries", "0");
    const [run] = await eventually(
      () => cli.ok("runs", "ls", "--run", "why-run", "--state", "RUN_FAILED"),
      ({ length }) => length === 1,
    );
    runLetter = textOf(run?.["dlqId"]);
    later = createServer((request, response) => {
      const { method = "GET", url = "" } = request;
      const { authorization = "" } = request.headers;
      if (url.startsWith("/v2/messages/"))
        return void response.writeHead(404, { "posthaste-fault": "not_found" }).end("{}");
      void fetch(`http://127.0.0.1:${server.port}${url}`, { method, headers: { authorization } })
        .then(async (reply) => {
          const fault = reply.headers.get("posthaste-fault");
          response.writeHead(reply.status, fault === null ? {} : { "posthaste-fault": fault });
          response.end(await reply.text());
        })
        .catch(() => response.destroy());
    });
    later.listen(0, "127.0.0.1");
    await once(later, "listening");
    laterUrl = `http://127.0.0.1:${(later.address() as AddressInfo).port}`;
  });
  afterAll(() => void later.close());

  it.each(["messages", "dlq", "runs"])(
    "%s show finds a message, a dead letter and a run by each of its ids",
    async (command) => {
      const root = (await cli.ok("runs", "show", "why-run"))[0];
      const steps = JSON.stringify(root?.["steps"]);
      const ofRun = /"messageId":"(msg_[^"]+)"/.exec(steps)?.[1] ?? "none";

      for (const id of [messageId, dlqId])
        expect((await cli.ok(command, "show", id))[0]).toMatchObject({ messageId, dlqId });
      for (const id of ["why-run", runLetter, ofRun])
        expect((await cli.ok(command, "show", id))[0]).toMatchObject({ workflowRunId: "why-run" });
      expect((await cli.run([command, "show", "none"])).code).toBe(5);
    },
  );

  it("of a failed message begins with its state, status and answer, then lists all of its events", async () => {
    const { out } = await cli.run(["messages", "show", messageId], { isTerminal: true });

    expect(out.split("\n").slice(0, 4)).toEqual([
      expect.stringMatching(/^state +FAILED$/),
      expect.stringMatching(/^responseStatus +404$/),
      expect.stringMatching(/^responseBody +\{"error":"no such order"\}$/),
      expect.stringMatching(/^attempts +1$/),
    ]);
    expect(out).toMatch(/^\S+Z +CREATED\n\S+Z +ACTIVE\n\S+Z +ERROR +404\n\S+Z +FAILED$/m);
  });

  it("of a failed run begins with its error, status and answer", async () => {
    const { out } = await cli.run(["runs", "show", "why-run"], { isTerminal: true });

    expect(out).toMatch(
      /^why-run {2}failed .*\n(error .*\n)?status {2}404\nanswer {2}\{"error":"no such order"\}\n/,
    );
    expect((await cli.ok("runs", "show", "why-run"))[0]).toMatchObject({
      ...{ responseStatus: 404, responseBody: answer },
    });
  });

  it("of a message that waits for its retry has the error and the time of the retry", async () => {
    const to = destination.url("/why");
    const id = await published(to, "--retries", "1", "--retry-delay", "3600000");
    const [shown] = await eventually(
      () => cli.ok("messages", "show", id),
      ([{ state } = {}]) => state === "RETRY",
    );

    expect(shown).toMatchObject({ responseStatus: 404, responseBody: answer, attempts: 1 });
    expect(numberOf(shown?.["nextDeliveryTime"])).toBeGreaterThan(Date.now());
    await cli.ok("messages", "cancel", id);
  });

  it("finds a message a minute after its end in the log, also by the id of a removed dead letter", async () => {
    const delivered = await published(destination.url("/delivered"));
    const show = (id: string) => cli.ok("messages", "show", id, "--server", laterUrl);
    const [well] = await eventually(
      () => show(delivered).catch(() => []),
      ([{ state } = {}]) => state === "DELIVERED",
    );
    expect(well).toMatchObject({ attempts: 1, url: destination.url("/delivered") });

    expect((await show(messageId))[0]).toMatchObject({ dlqId, responseBody: answer });
    await cli.ok("dlq", "rm", dlqId);
    for (const id of [messageId, dlqId])
      expect((await show(id))[0]).toMatchObject({ messageId, dlqId, responseBody: answer });
  });
});

describe("profiles", () => {
  it("name servers: one in use, and each by its name", async () => {
    const env = { POSTHASTE_URL: "", POSTHASTE_TOKEN: "" };
    const url = `http://127.0.0.1:${server.port}`;
    await cli.run(["profile", "set", "here", url], { stdin: `${developmentToken}\n` });
    await cli.run(["profile", "set", "nowhere", "http://127.0.0.1:1"], { stdin: "t" });
    expect((await cli.run(["queues", "ls"], { env })).code).toBe(0);
    expect((await cli.run(["queues", "ls", "--profile", "nowhere"])).code).toBe(3);
    // A profile's token is not sent to the server that the environment names.
    const elsewhere = { ...env, POSTHASTE_URL: url };
    expect((await cli.run(["queues", "ls"], { env: elsewhere })).code).toBe(4);
    await cli.ok("profile", "use", "nowhere");
    expect((await cli.run(["queues", "ls"], { env })).code).toBe(3);
    expect(
      (await cli.ok("profile", "ls")).map((each) => [each["name"], each["isCurrent"]]),
    ).toEqual([
      ["here", false],
      ["nowhere", true],
    ]);
    await cli.ok("profile", "rm", "nowhere");
    expect((await cli.run(["queues", "ls"], { env })).code).toBe(4);
    await cli.ok("profile", "rm", "here");
  });
});

describe("a failure is one line, with an exit code for its kind", () => {
  it.each<[string, readonly string[], number, RegExp, Readonly<Record<string, string>>]>([
    ["a wrong option", ["queues", "ls", "--nope"], 2, /unknown option '--nope'/, {}],
    ["a name like an option", ["queues", "rm", "-q"], 2, /'-q'; .* goes after --$/m, {}],
    ["such a name after --", ["queues", "show", "--", "-q"], 5, /queue -q not found/, {}],
    ["no such command", ["frobnicate"], 2, /unknown command 'frobnicate'/, {}],
    ["no such command of a group", ["dlq", "frobnicate"], 2, /unknown command 'frobnicate'/, {}],
    ["a misspelt command", ["publsh"], 2, /Did you mean publish\?/, {}],
    ["no argument", ["publish"], 2, /missing required argument 'destination'/, {}],
    [
      "a wrong time",
      ["messages", "ls", "--from", "noon"],
      2,
      /--from <time>: noon is not a time/,
      {},
    ],
    ["a wrong limit", ["messages", "ls", "--limit", "0"], 2, /--limit: 0/, {}],
    [
      "a wrong count",
      ["queues", "set", "q", "--parallelism", "x"],
      2,
      /--parallelism: x is no/,
      {},
    ],
    [
      "a wrong rate",
      ["flow", "pin", "k", "--rate", "0"],
      2,
      /--rate: 0 is not a number above 0/,
      {},
    ],
    ["an end of what has none", ["tail", "--to", "1"], 2, /unknown option '--to'/, {}],
    ["nothing that is meant", ["dlq", "rm"], 2, /give ids/, {}],
    ["ids and a filter", ["dlq", "rm", "a", "--label", "b"], 2, /give ids/, {}],
    ["a header that is none", ["publish", "http://a.example", "-H", "x"], 2, /--header: x/, {}],
    [
      "a header no line can have",
      ["publish", "http://a.example", "-H", "x: \u0001"],
      2,
      /-x: has/,
      {},
    ],
    [
      "a header twice",
      ["publish", "http://a.example", "-H", "X-A: 1", "-H", "x-a: 2"],
      2,
      /--header: x-a must be given once/,
      {},
    ],
    ["a setting no line can have", ["publish", "g", "--label", "\n"], 2, /Service-Label: has/, {}],
    [
      "a file that is not there",
      ["batch", "/none"],
      2,
      /batch: \/none cannot be read: no such file/,
      {},
    ],
    [
      "a folder for a file",
      ["batch", folder],
      2,
      /batch: .* cannot be read: illegal operation/,
      {},
    ],
    ["a body that is not there", ["publish", "g", "-d", "@/none"], 2, /--data: \/none cannot/, {}],
    [
      "profiles that cannot be read",
      ["profile", "ls"],
      2,
      /profiles\.json cannot be read: not a directory/,
      { XDG_CONFIG_HOME: openList },
    ],
    ["a file that is no JSON", ["batch", openList], 2, /batch: the list is not JSON/, {}],
    ["a shell without words", ["completion", "tcsh"], 2, /tcsh: must be bash, zsh or fish/, {}],
    ["a port that is none", ["dev", "--port", "x"], 2, /--port: must be a number/, {}],
    [
      "a migration of no database",
      ["migrate", "--check"],
      1,
      /ECONNREFUSED/,
      { POSTHASTE_MONGODB_URI: "mongodb://127.0.0.1:1" },
    ],
    [
      "a migration of a database that is not named",
      ["migrate"],
      1,
      /one problem: POSTHASTE_MONGODB_URI must be a mongodb:\/\//,
      {},
    ],
    ["a word too many", ["queues", "ls", "q"], 2, /too many arguments for 'ls'/, {}],
    ["an unknown profile", ["queues", "ls", "--profile", "x"], 2, /there is no profile x/, {}],
    ["no URL", ["queues", "ls", "--server", "x"], 2, /--server: x is not a URL/, {}],
    ["no URL", ["queues", "ls"], 2, /POSTHASTE_URL: x is/, { POSTHASTE_URL: "x" }],
    ["no URL", ["profile", "set", "p", "ftp://x"], 2, /url: ftp:\/\/x is not a URL/, {}],
    ["a wrong state", ["messages", "ls", "--state", "x"], 6, /state: must be one of CREATED/, {}],
    ["no address", ["messages", "ls", "--caller-ip", "x"], 6, /callerIp: must be an IP/, {}],
    ["no name", ["messages", "cancel", "--queue", "a b"], 6, /queueName: letters/, {}],
    ["a wrong status", ["dlq", "ls", "--status", "x"], 6, /responseStatus: must be/, {}],
    ["a wrong workflow", ["runs", "ls", "--workflow", "x"], 6, /workflowUrl: must begin/, {}],
    ["a wrong cron", ["schedules", "set", "x", "http://a.example"], 6, /cron: must be five/, {}],
    ["a wrong endpoint", ["groups", "add", "g", "x"], 6, /endpoints\[0\]\.url: invalid/, {}],
    ["an empty id", ["dlq", "rm", ""], 6, /dlqIds: must not be empty/, {}],
    [
      "no server",
      ["queues", "ls"],
      3,
      /no server at http.*:1: start one/,
      { POSTHASTE_URL: "http://127.0.0.1:1" },
    ],
    [
      "no management",
      ["tenants", "ls"],
      3,
      /no server at http.*:1: start one, or set POSTHASTE_MANAGEMENT_URL/,
      { POSTHASTE_MANAGEMENT_URL: "http://127.0.0.1:1" },
    ],
    [
      "an unknown operator",
      ["tenants", "ls"],
      4,
      /does not know this user: set POSTHASTE_MANAGEMENT_USER/,
      { POSTHASTE_MANAGEMENT_PASSWORD: "x" },
    ],
    ["an unknown token", ["queues", "ls"], 4, /does not know this token/, { POSTHASTE_TOKEN: "x" }],
    ["no token", ["queues", "ls"], 4, /there is no token/, { POSTHASTE_TOKEN: "" }],
    ["an unknown thing", ["queues", "show", "none"], 5, /queue none not found/, {}],
    ["another scheme", ["publish", "ftp://a.example"], 6, /invalid scheme/, {}],
  ])("%s", async (_, words, wanted, line, env) => {
    const { code, err, out } = await cli.run(words, { env });

    expect({ code, out }).toEqual({ code: wanted, out: "" });
    expect(err).toMatch(/^posthaste: [^\n]+\n$/);
    expect(err).toMatch(line);
  });

  it("each setting of a publish that the server refuses is named", async () => {
    const { out } = await cli.run(["publish", "--help"]);
    const settings = [...out.matchAll(/^ +--([a-z-]+) <value>/gm)].map(([, name = ""]) => name);
    expect(settings).toContain("failure-callback-retry-delay");

    for (const setting of settings) {
      const words = ["publish", "http://a.example", `--${setting}`, ""];
      const { code, err } = await cli.run(words);
      expect([code, err]).toEqual([
        6,
        expect.stringMatching(`^posthaste: service-${setting}: [^\n]+\n$`),
      ]);
    }
  });

  it("a terminal gets a list as a table, and no text of a server moves its cursor", async () => {
    const hostile = "\u001b[2J\u009b31m\u202e";
    destination.answers("/hostile", (_, response) => response.writeHead(500).end(hostile));
    await published(destination.url("/hostile"), "--retries", "0", "--label", "hostile");
    const [letter] = await eventually(
      () => cli.ok("dlq", "ls", "--label", "hostile"),
      ({ length }) => length === 1,
    );
    const words = ["dlq", "show", textOf(letter?.["dlqId"])];
    const onTerminal = (await cli.run(words, { isTerminal: true })).out;
    const asJson = await cli.run([...words, "--json"], { isTerminal: true });

    for (const text of [onTerminal, asJson.out])
      expect(text).not.toMatch(/[\u001b\u0080-\u009f\u202e]/);
    expect(onTerminal).toMatch(/^responseStatus +500$/m);
    expect(asJson.json[0]?.["responseBody"]).toBe(hostile);
    expect(numberOf(asJson.json[0]?.["responseStatus"])).toBe(500);
  });
});
