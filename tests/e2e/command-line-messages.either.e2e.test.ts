/** Tests the commands for messages and dead letters (docs/cli.md). */
import { once } from "node:events";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { eventually, hasLength } from "./client.ts";
import { cli, startCommandLine } from "./command-line.ts";
import { listen } from "./loopback.ts";
import { textOf } from "./json.ts";
import { destination, server } from "./suite.ts";

startCommandLine();

describe("messages", () => {
  it("are published with settings, headers and body, from arguments, a file or stdin", async () => {
    const to = destination.url("/published");
    await cli.published("-H", "X-Shop: north: 1", "--label", "cli", to, "-d", '{"a":1}');
    await cli.run(["enqueue", "cli-queue", to, "--data", "@-"], { stdin: "from stdin" });
    const items = JSON.stringify([{ destination: to, body: "one" }, { destination: to }]);
    const batch = await cli.run(["batch", "-"], { stdin: items });

    expect(batch.json).toHaveLength(2);
    const none = await cli.run(["batch", "-"], { stdin: "[]", isTerminal: true });
    expect([none.code, none.out]).toEqual([0, "0 messages published: the list is empty\n"]);
    const arrivals = await eventually(
      () => Promise.resolve(destination.at("/published")),
      hasLength(4),
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

  it("fail where their list cannot be written, as on a full disk", async () => {
    await cli.published(destination.url("/listed"), "--label", "unwritten");
    const full = openSync("/dev/full", "w");

    const { code, err } = await cli.runInto(full, ["messages", "ls"]);
    closeSync(full);

    expect([code, err]).toEqual([
      1,
      "posthaste: the output cannot be written: ENOSPC: no space left on device, write\n",
    ]);
  });

  it("have the bytes of stdin or a file as their body, also where these are no text", async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xc3, 0x28]);
    const file = join(temporaryFolder(), "bytes");
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
    await cli.published(destination.url("/found"), "--label", "found", "--label", "too");
    const found = () => cli.ok("messages", "ls", "--label", "found", "--from", "2026-01-31");
    expect(await eventually(found, ({ length }) => length >= 3)).toHaveLength(3);
  });

  it("are listed, shown, delivered now and cancelled, by their ids or by filters", async () => {
    const to = destination.url("/waiting");
    const [first, second] = [
      await cli.published(to, "--delay", "1h", "--label", "held"),
      await cli.published(to, "--delay", "1h", "--label", "held"),
    ];
    await cli.published(to, "--delay", "1h", "--label", "held");
    const created = await cli.until(3, "messages", "ls", "--label", "held", "--state", "CREATED");
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
    await cli.published(destination.url("/watched"), "--label", "watched");

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
    await cli.published(destination.url("/followed"), ...publish);
    await cli.published(destination.url("/followed"), ...publish);
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
      await cli.published(destination.url(`/${label}`), "--retries", "0", "--label", label);
    return cli.until(count, "dlq", "ls", "--label", label);
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
    await cli.published(to, ...given, "-d", '{"order":"17"}');
    const [letter] = await cli.until(1, "dlq", "ls", "--label", "edited");
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
      hasLength(2),
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
      return { url: `http://127.0.0.1:${await listen(proxy)}`, close: () => proxy.close() };
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
