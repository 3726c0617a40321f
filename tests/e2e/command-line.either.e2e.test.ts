/** Tests the command line against a server (docs/cli.md): settings of the account, profiles, and the text of each failure. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { eventually } from "./client.ts";
import { cli, startCommandLine } from "./command-line.ts";
import { numberOf, textOf } from "./json.ts";
import { developmentToken } from "./server-process.ts";
import { destination, server } from "./suite.ts";

const folder = temporaryFolder();
const openList = join(folder, "list.json");
writeFileSync(openList, "[{");
const wrongConfig = join(folder, "wrong.env");
writeFileSync(wrongConfig, "# of the server\nPOSTHASTE_PORT 80\n");

startCommandLine();

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
    const unheld = await cli.run(["groups", "drop", "pair", a, "http://c.example/"]);
    expect([unheld.code, unheld.err]).toEqual([
      5,
      "posthaste: the group pair has no endpoint http://c.example/\n",
    ]);
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
    ["an empty data folder", ["serve", "--data", ""], 2, /--data: must not be empty/, {}],
    [
      "a line of a configuration that sets nothing",
      ["serve", "--config", wrongConfig],
      2,
      /--config .*: line 2 is not NAME=value/,
      {},
    ],
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
    ["no such group", ["groups", "drop", "none", "http://a.example"], 5, /none not found/, {}],
    ["no group to remove", ["groups", "rm", "none"], 5, /none not found/, {}],
    ["no schedule to remove", ["schedules", "rm", "none"], 5, /schedule none not found/, {}],
    ["no queue to remove", ["queues", "rm", "none"], 5, /none not found/, {}],
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
    await cli.published(destination.url("/hostile"), "--retries", "0", "--label", "hostile");
    const [letter] = await cli.until(1, "dlq", "ls", "--label", "hostile");
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
