import { afterAll, beforeAll, expect, it, jest } from "@jest/globals";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { configSchemas } from "@posthaste/process";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { root } from "../root.ts";
import { describeWith } from "../tools/describe-with.ts";
import { mustRun, run } from "../tools/run.ts";
import { contextFiles } from "./context.ts";
import {
  environmentOf,
  execForm,
  lastStage,
  readDockerfile,
  stageNamed,
  textsOf,
} from "./dockerfile.ts";

jest.setTimeout(10 * 60_000);
const idOfTheImage = 10_001;

// Repeats docker build and docker run without the container: the tree of the context, the install commands of the Dockerfile,
// another user, and only the data directory writable.
describeWith(["git", "npm"], "the tree of the image", () => {
  const folder = temporaryFolder();
  const app = join(folder, "app");
  const building = join(folder, "building");
  const bin = join(folder, "bin");
  const node = join(bin, "node");
  const data = join(folder, "data");
  const secrets = join(folder, "secrets");
  const stages = readDockerfile();
  const [, ...options] = execForm(textsOf(lastStage(stages), "ENTRYPOINT")[0] ?? "");
  const env = {
    ...environmentOf(lastStage(stages)),
    PATH: [bin, process.env["PATH"]].join(delimiter),
    POSTHASTE_HOST: "127.0.0.1",
    POSTHASTE_PORT: "0",
    POSTHASTE_DATA_DIR: data,
    POSTHASTE_TOKEN_FILE: join(secrets, "token"),
    POSTHASTE_SIGNING_KEY_CURRENT_FILE: join(secrets, "signing-key-current"),
    POSTHASTE_SIGNING_KEY_NEXT_FILE: join(secrets, "signing-key-next"),
  };
  // Only root can become another user. Any other user has no rights to drop.
  const asUser = process.getuid?.() === 0 ? { uid: idOfTheImage, gid: idOfTheImage } : {};
  const start = (file: string, variables: NodeJS.ProcessEnv, args: readonly string[] = []) =>
    spawn(node, [...options, file, ...args], {
      cwd: app,
      env: variables,
      stdio: ["ignore", "pipe", "pipe"],
      ...asUser,
    });

  /** Copies what the stage copies from the context, and runs its commands. */
  const runStage = async (name: string, cwd: string): Promise<void> => {
    for (const file of await contextFiles()) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true });
      copyFileSync(join(root, file), join(cwd, file));
    }
    for (const command of textsOf(stageNamed(stages, name), "RUN")) {
      const withoutFlags = command.replace(/^(--\S+\s+)+/, "");
      const installing = {
        ...process.env,
        PATH: env.PATH,
        npm_config_prefer_offline: "true",
        // Copies instead of links into pnpm's store, since rights are taken away below.
        npm_config_package_import_method: "copy",
      };
      await mustRun("sh", ["-c", withoutFlags], { cwd, env: installing });
    }
  };

  beforeAll(async () => {
    // The folder of the suite's temporary files, too, is made for its owner alone.
    for (const path of [dirname(folder), folder]) chmodSync(path, 0o755);
    for (const path of [app, building, bin, data, secrets]) mkdirSync(path);
    // Another user cannot read the folder of this Node.
    copyFileSync(process.execPath, node);
    await runStage("install", app);
    await runStage("console", building);
    for (const copied of textsOf(lastStage(stages), "COPY")) {
      const [, from, to] = /^--from=console \/app\/(\S+) \/app\/(\S+)$/.exec(copied) ?? [];
      if (from !== undefined && to !== undefined)
        cpSync(join(building, from), join(app, to), { recursive: true });
    }
    await mustRun("chmod", ["-R", "a+rX,a-w", app]);
    if (asUser.uid !== undefined)
      for (const path of [data, secrets]) chownSync(path, asUser.uid, asUser.gid);
    const names = "token,signing-key-current,signing-key-next,management-password,sealing-keys";
    await endOf(start("deploy/image/make-secrets.js", env, [`${secrets}=${names}`]), 0);
  });

  afterAll(async () => {
    if (existsSync(app)) await mustRun("chmod", ["-R", "u+w", app]);
  });

  it("holds nothing that only installs or tests", () => {
    expect(existsSync(join(app, "scripts"))).toBe(false);
    expect(readdirSync(join(app, "apps"))).toEqual(["console"]);
    expect(readdirSync(join(app, "apps/console"))).toEqual(["dist"]);
    const installed = readdirSync(join(app, "node_modules/.pnpm"));
    expect(installed.filter((name) => /^(jest|typescript|oxlint)@/.test(name))).toEqual([]);
  });

  it("runs the standalone as a user without rights that can write nothing but the data directory", async () => {
    const standalone = start("services/standalone/process/main.ts", env);
    try {
      const port = await portOf(standalone);
      const ask = (path: string, token: string) =>
        fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { authorization: `Bearer ${token}` },
        });
      const token = readFileSync(join(secrets, "token"), "utf8");
      const check = join(app, "deploy/image/healthcheck.js");
      const asked = { env: { POSTHASTE_PORT: port } };

      expect(await run(node, [check, "/healthz"], asked)).toMatchObject({ code: 0 });
      expect(await run(node, [check, "/readyz"], asked)).toMatchObject({ code: 0 });
      expect((await ask("/v2/dlq", token)).status).toBe(200);
      expect((await ask("/v2/dlq", "another")).status).toBe(401);
      const page = await ask("/console/", "none");
      expect(await page.text()).toContain("assets/index-");
    } finally {
      standalone.kill("SIGTERM");
    }
    await endOf(standalone, 0);
  });

  it("is reported as unhealthy if nothing answers", async () => {
    const check = join(app, "deploy/image/healthcheck.js");

    // Port 1 has no listener.
    expect(await run(node, [check], { env: { POSTHASTE_PORT: "1" } })).toMatchObject({ code: 1 });
  });

  it.each(Object.keys(configSchemas))(
    "has everything that %s needs to begin: without a configuration the process names the missing variables",
    async (service) => {
      const variables = { PATH: env.PATH, POSTHASTE_PROFILE: "production" };

      const output = await endOf(start(`services/${service}/process/main.ts`, variables), 78);

      expect(output).toContain("The configuration has");
    },
  );
});

/** Returns the whole output. Throws for any other exit code. */
async function endOf(child: ChildProcess, wanted: number): Promise<string> {
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => (output += String(chunk)));
  if (child.exitCode === null && child.signalCode === null) await once(child, "close");
  const ending = child.exitCode ?? child.signalCode;
  if (ending !== wanted) throw new Error(`ended with ${ending}: ${output}`);
  return output;
}

/** Resolves with the port of the address that the service prints when it is ready. */
function portOf(child: ChildProcess): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: unknown): void => {
      output += String(chunk);
      const [, port] = /address\s+http:\/\/[^\s]*:(\d+)\s/.exec(output) ?? [];
      if (port !== undefined) resolve(port);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("close", (code) => reject(new Error(`ended with ${code}: ${output}`)));
  });
}
