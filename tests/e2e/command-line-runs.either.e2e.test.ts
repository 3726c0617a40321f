/** Tests the commands for workflow runs, and `show`, which begins with the reason of a failure (docs/cli.md). */
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "./client.ts";
import { cli, startCommandLine } from "./command-line.ts";
import { listen } from "./loopback.ts";
import { numberOf, textOf } from "./json.ts";
import { destination, server } from "./suite.ts";

startCommandLine();

describe("workflow runs", () => {
  it("are started, listed, shown as a tree, restarted, resumed, notified of events and cancelled", async () => {
    const to = destination.url("/no-workflow");
    const { workflowRunId } = (await cli.ok("runs", "start", to, "--id", "cli-run"))[0] ?? {};
    expect(workflowRunId).toBe("cli-run");
    const [run] = await cli.until(1, "runs", "ls", "--run", "cli-run", "--state", "RUN_FAILED");
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
        cli.until(count, "runs", "ls", "--label", label, "--state", "RUN_FAILED");
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
    messageId = await cli.published(destination.url("/why"), "--retries", "0", "--label", "why");
    const [letter] = await cli.until(1, "dlq", "ls", "--label", "why");
    dlqId = textOf(letter?.["dlqId"]);
    await cli.ok("runs", "start", destination.url("/why"), "--id", "why-run", "--retries", "0");
    const [run] = await cli.until(1, "runs", "ls", "--run", "why-run", "--state", "RUN_FAILED");
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
    laterUrl = `http://127.0.0.1:${await listen(later)}`;
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
    const id = await cli.published(to, "--retries", "1", "--retry-delay", "3600000");
    const [shown] = await eventually(
      () => cli.ok("messages", "show", id),
      ([{ state } = {}]) => state === "RETRY",
    );

    expect(shown).toMatchObject({ responseStatus: 404, responseBody: answer, attempts: 1 });
    expect(numberOf(shown?.["nextDeliveryTime"])).toBeGreaterThan(Date.now());
    await cli.ok("messages", "cancel", id);
  });

  it("finds a message a minute after its end in the log, also by the id of a removed dead letter", async () => {
    const delivered = await cli.published(destination.url("/delivered"));
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
