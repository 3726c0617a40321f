/** Tests the published form of `posthaste`: packed, installed in an empty folder, and run there as a process. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { fetchShell, freePort, hasShell } from "@posthaste/local";
import { type Block, blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { eventually } from "./client.ts";
import { developmentToken } from "./server-process.ts";
import { destination, server, startBeforeTests } from "./suite.ts";

const runFile = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const home = temporaryFolder();
/** The folder of docs/cli.md. */
const folder = join(home, "posthaste");
const program = join(folder, "node_modules/.bin/posthaste");

type Sbom = {
  readonly specVersion: string;
  readonly components: readonly { readonly purl?: string }[];
};

let env: Readonly<Record<string, string | undefined>>;

startBeforeTests();

beforeAll(async () => {
  await pack();
  env = {
    PATH: process.env["PATH"],
    HOME: home,
    POSTHASTE_URL: `http://127.0.0.1:${server.port}`,
    POSTHASTE_TOKEN: developmentToken,
  };
});

/** Reads a file of the packed command. */
const packed = (file: string): string =>
  readFileSync(join(folder, "node_modules/posthaste", file), "utf8");

/** Waits until the process has said this. */
const saying = (said: () => string, pattern: RegExp): Promise<string> =>
  eventually(
    () => Promise.resolve(said()),
    (text) => pattern.test(text),
  );

/** Packs the files that a rehearsal of a release makes of this tree. */
async function pack(): Promise<void> {
  const [block] = blocksOf("sh pack-command");
  const offline = { npm_config_offline: "true", npm_config_ignore_scripts: "true" };
  await runFile("sh", ["-euc", block?.code ?? ""], {
    cwd: root,
    env: { ...process.env, ...offline, HOME: home },
  });
}

describe("a rehearsed release", () => {
  const made = join(home, "release");
  const named = (pattern: RegExp): string =>
    join(made, readdirSync(made).find((name) => pattern.test(name)) ?? String(pattern));
  const fileOf = async (archive: string, path: string): Promise<string> =>
    (await runFile("tar", ["--extract", "--to-stdout", "--file", archive, path])).stdout;

  it("makes each file under its own name, with its checksum", async () => {
    expect(
      readdirSync(made)
        .toSorted()
        .map((name) => name.replace(/-\d[\d.]+\d/, "")),
    ).toEqual([
      "SHA256SUMS",
      "posthaste.cdx.json",
      "posthaste.tgz",
      "posthaste-chart.tgz",
      "posthaste-client.tgz",
      "posthaste-image.tar.gz",
      "release-notes.md",
    ]);
    const checked = await runFile("sha256sum", ["--check", "SHA256SUMS"], { cwd: made });
    expect(checked.stdout.match(/: OK$/gm)).toHaveLength(6);
  });

  it("lists each package inside the archive and the image in CycloneDX documents", async () => {
    const page = readFileSync(join(root, "docs/third-party.md"), "utf8");
    const rows = [...page.matchAll(/^\| (\S+) +\| (\d\S*) +\|/gm)];
    const wanted = rows.map(([, name = "", version = ""]) => `${name}@${version}`);
    const image = await fileOf(named(/image/), "deploy/image/sbom.cdx.json");

    for (const text of [readFileSync(named(/cdx/), "utf8"), image]) {
      const { specVersion, components } = JSON.parse(text) as Sbom;
      expect(specVersion).toBe("1.6");
      const listed = components.flatMap(({ purl = "" }) =>
        purl === "" ? [] : [purl.replace("pkg:npm/", "").replace("%40", "@")],
      );
      expect(listed.toSorted()).toEqual(wanted.toSorted());
    }
    expect(image).toMatch(/"container",\s+"bom-ref": "node:\S+@sha256:/);
  });

  it("labels the image with its version, its commit and its base image, and gives it no privileges", async () => {
    const dockerfile = await fileOf(named(/image/), "deploy/Dockerfile");
    const { stdout: commit } = await runFile("git", ["rev-parse", "HEAD"], { cwd: root });

    const labels = dockerfile.slice(dockerfile.lastIndexOf("LABEL"));
    expect(labels).toContain(`image.revision="${commit.trim()}"`);
    expect(labels).toMatch(/image\.version="\d+\.\d+\.\d+"/);
    expect(labels).toMatch(/image\.base\.digest="sha256:[0-9a-f]{64}"/);
    expect(dockerfile).toContain("\nUSER 10001:10001\n");
  });

  it("makes a chart that names the image and lists its changes and the versions of Kubernetes that it runs on", async () => {
    const chart = named(/chart/);
    const { stdout: listed } = await runFile("tar", ["--list", "--file", chart]);

    const described = await fileOf(chart, "posthaste/Chart.yaml");
    expect(described).toMatch(/artifacthub\.io\/images: \|\n.*\n +image: ghcr\.io\/\S+:\d/);
    expect(described).toMatch(/artifacthub\.io\/changes: \|\n +- "/);
    expect(await fileOf(chart, "posthaste/README.md")).toMatch(/^\| `kafka\.partitions` .*16/m);
    expect(await fileOf(chart, "posthaste/values.yaml")).toContain("repository: ghcr.io/");
    expect(listed).not.toMatch(/^posthaste\/ci\//m);
    expect(listed).toMatch(/^posthaste\/templates\/_helpers\.tpl$/m);
  });

  it.each([
    [["0.2"], "0.2 is not a version such as 0.2.0 or 0.2.0-rc.1"],
    [["v0.2.0"], "v0.2.0 is not a version such as 0.2.0 or 0.2.0-rc.1"],
    [["0.02.0"], "0.02.0 is not a version such as 0.2.0 or 0.2.0-rc.1"],
    [[], "name one version: npm run release -- 0.2.0"],
    [["9.9.9", "--rehearsal", "--write"], "--write and --rehearsal: a rehearsal writes nothing"],
    [
      ["9.9.9", "--rehearsal", "--out", made],
      `${made} is not empty: choose another folder with --out`,
    ],
  ])("refuses wrong arguments in one line: %j", async (words, why) => {
    const failed = runFile(process.execPath, ["scripts/release/main.js", ...words], { cwd: root });

    await expect(failed).rejects.toMatchObject({ code: 1, stderr: `release: ${why}\n` });
  });
});

it("the packed command publishes without any other package", async () => {
  expect(JSON.parse(packed("package.json"))).not.toHaveProperty("dependencies");
  const words = ["publish", destination.url("/packed"), "--data", "hello"];
  const { stdout } = await runFile(program, words, { env });

  expect(JSON.parse(stdout)).toMatchObject({ url: destination.url("/packed") });
  expect(String((await destination.arrival("/packed")).body)).toBe("hello");
});

it("the packed command has the fields that a registry shows, is public and runs no script at an install", () => {
  const manifest = JSON.parse(packed("package.json")) as object;

  expect(manifest).toMatchObject({
    license: "Apache-2.0",
    repository: { directory: "apps/cli" },
    publishConfig: { access: "public", provenance: true },
  });
  const fields = "description keywords homepage bugs engines exports files".split(" ");
  for (const field of fields) expect(manifest).toHaveProperty(field);
  for (const field of ["private", "scripts"]) expect(manifest).not.toHaveProperty(field);
});

it("the packed command prints its version", async () => {
  const { stdout } = await runFile(program, ["--version"], { env });

  expect(JSON.parse(packed("package.json"))).toMatchObject({ version: stdout.trim() });
});

it("the packed command has the licence of each package inside it and inside the console", () => {
  for (const name of ["got", "commander", "express", "mathjs"])
    expect(packed("THIRD-PARTY-LICENSES")).toMatch(new RegExp(`^${name} \\d.*\\(.+\\)$`, "m"));
  for (const name of ["react", "@xyflow/react", "d3-zoom", "zustand"])
    expect(packed("console/licences.md")).toContain(`## ${name} - `);
});

it("the packed command contains only packages that docs/third-party.md names with their version and licence", () => {
  const command = packed("THIRD-PARTY-LICENSES");
  const pages = packed("console/licences.md");
  const inside = [
    ...command.matchAll(/^(\S+) (\d\S+) (\(.+\))$/gm),
    ...pages.matchAll(/^## (\S+) - (\d\S+) (\(.+\))$/gm),
  ].map(([, name = "", version = "", license = ""]) => `${name} ${version} ${license}`);
  const page = readFileSync(join(root, "docs/third-party.md"), "utf8");
  const named = new Set(
    [...page.matchAll(/^\| (\S+) +\| (\S+) +\| (.+?) +\|$/gm)].map(
      ([, name = "", version = "", license = ""]) => `${name} ${version} (${license})`,
    ),
  );

  expect(inside.length).toBeGreaterThan(100);
  expect(inside.filter((each) => !named.has(each))).toEqual([]);
});

it("the packed command completes words in bash", async () => {
  const script = `
    posthaste() { "$PROGRAM" "$@"; }
    source <(posthaste completion bash)
    COMP_WORDS=(posthaste dlq re); COMP_CWORD=2; _posthaste; echo "\${COMPREPLY[@]}"
    COMP_WORDS=(posthaste dlq retry --ye); COMP_CWORD=3; _posthaste; echo "\${COMPREPLY[@]}"`;

  const { stdout, stderr } = await runFile("bash", ["-ec", script], {
    env: { ...env, PROGRAM: program },
  });

  expect([stdout, stderr]).toEqual(["retry\n--yes\n", ""]);
});

/** Scripts by which each shell asks for the possible next words and prints them. */
const shells = {
  zsh: `
    posthaste() { "$PROGRAM" "$@"; }
    compdef() { :; }
    compadd() { shift; printf "%s\\n" "$@"; }
    source <(posthaste completion zsh)
    words=(posthaste dlq re); CURRENT=3; _posthaste
    words=(posthaste dlq retry --ye); CURRENT=4; _posthaste`,
  fish: `
    function posthaste; $PROGRAM $argv; end
    posthaste completion fish | source
    complete -C "posthaste dlq re"
    complete -C "posthaste dlq retry --ye"`,
} as const;

for (const shell of ["zsh", "fish"] as const)
  (hasShell(shell) ? it : it.skip)(`completes words in ${shell}`, async () => {
    const flags = shell === "zsh" ? ["-f", "-c"] : ["--no-config", "-c"];
    const { file, env: own } = await fetchShell(shell);

    const { stdout } = await runFile(file, [...flags, shells[shell]], {
      env: { ...env, ...own, PROGRAM: program },
    });

    const words = stdout.split("\n").map((line) => line.split("\t")[0]);
    expect(words).toEqual(expect.arrayContaining(["retry", "--yes"]));
  });

it("the packed command refuses an older Node in one line", async () => {
  const older =
    'Object.defineProperty(process,"versions",{value:{...process.versions,node:"22.9.0"}})';
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(older)}`;
  const failed = runFile(program, ["queues", "ls"], { env: { ...env, NODE_OPTIONS } });

  await expect(failed).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: "posthaste: this is Node 22.9.0, and 24.15 or newer is needed: nodejs.org has it\n",
  });
});

it("the packed command ends with the exit code of the error's kind, and one line that says what to do", async () => {
  const failed = runFile(program, ["queues", "show", "none"], { env });

  await expect(failed).rejects.toMatchObject({
    code: 5,
    stdout: "",
    stderr: "posthaste: queue none not found\n",
  });
});

it("the packed command ends at Ctrl-C, and when the reader of its pipe ends", async () => {
  const tail = spawn(program, ["tail", "--from", String(Date.now())], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  tail.stdout.on("data", (chunk) => (said += String(chunk)));
  await runFile(program, ["publish", destination.url("/tailed")], { env });
  await saying(() => said, /DELIVERED/);
  const ended = once(tail, "exit");
  tail.kill("SIGINT");

  expect(await ended).toEqual([0, null]);
  const piped = await runFile("sh", ["-c", `"${program}" messages ls | head -n 1`], { env });
  expect(piped.stderr).toBe("");
});

/** Ends the receiver with the shell, however that ends. */
const receiverEnds = "trap 'kill $!' EXIT";

/** Waits after each line, as a reader would, until its effect has begun. */
const asRead = (code: string): string =>
  code
    .replace(/^node .*$/m, "$&\nuntil (: < /dev/tcp/127.0.0.1/3000) 2> /dev/null; do :; done")
    .replace(/^.* publish .*$/m, "$&\nuntil npx posthaste dlq ls | grep -q orders; do :; done")
    .replace(/^.* --yes$/m, "$&\nuntil npx posthaste messages ls | grep -q DELIVERED; do :; done");

describe("the packed server, in an empty folder", () => {
  const empty = join(folder, "empty");
  let port: number;
  let dev: ReturnType<typeof spawn>;
  let ended: Promise<unknown>;
  let said = "";

  const here = (text: string): string =>
    text
      .replaceAll("8080", String(port))
      .replaceAll("8081", String(port + 1))
      .replaceAll("3000", String(port + 3))
      .replaceAll("npx posthaste", `"${program}"`);
  const asText = (block: Block | undefined): string => here(block?.code ?? "");

  beforeAll(async () => {
    port = await freePort(1, 2, 3);
    mkdirSync(empty);
    const [start] = blocksOf("sh dev");
    // The server ignores its callers' variables.
    dev = spawn("sh", ["-c", `exec ${asText(start).trim()} --port ${port}`], { cwd: empty, env });
    for (const stream of [dev.stdout, dev.stderr])
      stream?.on("data", (text) => (said += String(text)));
    ended = once(dev, "close");
    await eventually(
      () => Promise.resolve(said),
      (text) => text.includes("POSTHASTE_MANAGEMENT_PASSWORD=") || dev.exitCode !== null,
    );
  });
  afterAll(() => void dev.kill("SIGKILL"));

  it("makes the first delivery of its page, and serves the console", async () => {
    const [tour] = blocksOf("sh tour");

    const ran = await runFile("sh", ["-ec", asText(tour)], { cwd: empty, env });
    await saying(() => said, /caught {2}POST \/hello/);
    const pages = await fetch(`http://127.0.0.1:${port}/console/`);

    expect(pages.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    expect(ran.stdout).toMatch(/"messageId":"msg_/);
    expect(ran.stderr).toBe("");
    expect(said).toMatch(/address .*token /s);
    expect(existsSync(join(empty, ".posthaste/posthaste.db"))).toBe(true);
    expect(existsSync(join(folder, "node_modules/posthaste/checkpoint-worker.js"))).toBe(true);
  });

  it("delivers the messages of the packed client, as a module and as CommonJS", async () => {
    const program = join(home, "program");
    mkdirSync(join(program, "node_modules"), { recursive: true });
    writeFileSync(join(program, "package.json"), "{}");
    // The client's one dependency is here before npm looks for it, so that no test asks a registry.
    symlinkSync(join(root, "libs/client/node_modules/got"), join(program, "node_modules/got"));
    const client = readdirSync(join(home, "release")).find((name) => name.includes("-client-"));
    const install = ["install", "--offline", "--no-save", "--ignore-scripts"];
    await runFile("npm", [...install, join(home, "release", String(client))], {
      cwd: program,
      env: { ...env },
    });
    const publish = (path: string): string =>
      [
        "const { POSTHASTE_URL: url, POSTHASTE_TOKEN: token } = process.env;",
        `createClient({ url, token }).publish({ to: "http://127.0.0.1:${port + 1}/${path}", body: "1" });`,
      ].join("\n");
    const files = {
      "a.mjs": `import { createClient } from "@posthaste/client";\n${publish("module")}`,
      "b.cjs": `const { createClient } = require("@posthaste/client");\n${publish("common")}`,
    };

    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(program, file), text);
      await runFile(process.execPath, [file], {
        cwd: program,
        env: { ...env, POSTHASTE_URL: `http://127.0.0.1:${port}` },
      });
    }

    for (const path of [/POST \/module/, /POST \/common/]) await saying(() => said, path);
  });

  it("prints a failed delivery with its reason", async () => {
    const publish = ["publish", "--retries", "0", "-d", "{}"];
    await runFile(program, [...publish, `http://127.0.0.1:${port + 1}/status/503`], {
      env: { ...env, POSTHASTE_URL: `http://127.0.0.1:${port}` },
    });

    const line = /failed {2}POST \S+\/status\/503 .*→ 503 \{"caught":false\}, and no retry/;
    await saying(() => said, line);
  });

  it("serves the API of the operator with the password that it prints", async () => {
    const ran = await runFile(
      "sh",
      ["-c", `${said.match(/^ +export .*$/gm)?.join("\n")}\nexec "${program}" tenants ls`],
      { env: { ...env, POSTHASTE_MANAGEMENT_URL: `http://127.0.0.1:${port + 2}` } },
    );

    expect(ran.stdout).toContain('"id":');
  });

  it("runs the page of the first failure: found, mended and sent again", async () => {
    const steps = [...blocksOf("js receiver.mjs"), ...blocksOf("sh walk")]
      .toSorted((a, b) => a.line - b.line)
      .map(({ words, code }) =>
        words === "sh walk" ? asRead(code) : `cat > receiver.mjs <<'END'\n${code}END`,
      );

    const { stdout } = await runFile("bash", ["-ec", here([receiverEnds, ...steps].join("\n"))], {
      cwd: empty,
      env: { ...env, POSTHASTE_URL: `http://127.0.0.1:${port}` },
      timeout: 60_000,
    });

    expect(stdout).toMatch(/"responseStatus":500.*order 17.*"state":"DELIVERED"/s);
  });

  it("ends at Ctrl-C", async () => {
    dev.kill("SIGINT");

    expect(await ended).toEqual([0, null]);
  });
});

it.each(blocksOf("sh posthaste"))(
  "the packed command does what $page says at line $line",
  async ({ code }) => {
    const run = { "service-workflow-runid": "wfr_1", "service-workflow-init": "true" };
    await server.client.post(`/v2/publish/${destination.url("/run")}`, run);
    writeFileSync(join(home, "token.txt"), developmentToken);
    writeFileSync(join(home, "mail.json"), "{}");
    const script = code
      .replaceAll("https://posthaste.example", `http://127.0.0.1:${server.port}`)
      .replaceAll("https://shop.example", destination.url(""));
    const tail = 'timeout --signal INT 2 "$PROGRAM" "$@" || true';
    const command = `posthaste() { case $1 in tail) ${tail};; *) "$PROGRAM" "$@";; esac; }`;

    const ran = await runFile("sh", ["-euc", `${command}\n${script}`], {
      cwd: home,
      env: { ...env, PROGRAM: program },
    });

    expect(ran.stderr).toBe("");
  },
);

it("the packed command serves in production from an empty folder, and a copy of that folder keeps what was acknowledged", async () => {
  const cwd = join(home, "production");
  mkdirSync(cwd);
  const started: ReturnType<typeof spawn>[] = [];
  const serveOver = async (data: string): Promise<number> => {
    const port = await freePort(2);
    const words = ["serve", "--port", String(port), "--data", data];
    const serving = {
      POSTHASTE_ALLOW_PRIVATE_CIDRS: "10.0.0.0/8",
      // Empty variables count as not set.
      ...{ POSTHASTE_TOKEN: "", POSTHASTE_DATA_DIR: "", POSTHASTE_MANAGEMENT_USER: "" },
    };
    const serve = spawn(program, words, {
      cwd,
      env: { PATH: process.env["PATH"], HOME: home, ...serving },
    });
    started.push(serve);
    let said = "";
    for (const stream of [serve.stdout, serve.stderr])
      stream.on("data", (text) => (said += String(text)));
    await eventually(
      () => Promise.resolve(said),
      (text) => text.includes("is ready (production profile)") || serve.exitCode !== null,
    );
    return port;
  };
  const command = (words: readonly string[], port = 0, token = "") =>
    runFile(program, [...words], {
      cwd,
      env: { ...env, POSTHASTE_URL: `http://127.0.0.1:${port}`, POSTHASTE_TOKEN: token },
    });
  try {
    const port = await serveOver("data");
    const token = readFileSync(join(cwd, "data/secrets/token"), "utf8");
    const words = ["publish", "http://10.1.2.3/kept", "--delay", "1h"];
    const { messageId } = JSON.parse((await command(words, port, token)).stdout) as {
      readonly messageId: string;
    };

    const copied = await command(["backup", "copy", "--data", "data", "--with-secrets"]);
    started[0]?.kill("SIGKILL");
    await command(["restore", "copy", "--data", "other"]);
    const otherPort = await serveOver("other");

    expect(JSON.parse(copied.stdout)).toMatchObject({ messages: 1, hasKey: true });
    const shown = await command(["messages", "show", messageId], otherPort, token);
    expect(shown.stdout).toContain("http://10.1.2.3/kept");
    const again = command(["restore", "copy", "--data", "data"]);
    await expect(again).rejects.toMatchObject({
      code: 1,
      stderr: "posthaste: data already has a posthaste.db\n",
    });
  } finally {
    for (const serve of started) serve.kill("SIGKILL");
  }
});
