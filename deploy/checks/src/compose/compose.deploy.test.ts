import { beforeAll, describe, expect, it } from "@jest/globals";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName } from "@posthaste/process";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { configOf, type Files, openSecrets, problemsOf } from "../environment.ts";
import { environmentOf, lastStage, readDockerfile } from "../image/dockerfile.ts";
import { root } from "../root.ts";
import { buildComposeCheck, runComposeCheck } from "../tools/compose-check.ts";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { mustRun } from "../tools/run.ts";
import { type ComposeService, gatesOf, loadProject, type Project } from "./project.ts";

const stores = ["kafka", "redis", "mongodb"];
const once = ["migrate", "mongodb-init", "secrets"];
const workers = ["callback-dispatcher", "deliverer", "scheduler", "workflow-log"] as const;
const six = [...workers, "gateway", "management"] as const satisfies readonly ServiceName[];
const observers = ["prometheus", "collector", "tempo", "grafana"];
const own = [...six, "standalone"] as const satisfies readonly ServiceName[];

describeWith(["go"], "docker-compose.yml", () => {
  const folder = temporaryFolder();
  const ofTheImage = environmentOf(lastStage(readDockerfile()));
  let plain: Project;
  let alone: Project;
  let observed: Project;
  let secrets: Files;
  const service = (name: string): ComposeService => {
    const found = [plain, alone, observed].map(({ services }) => services[name]).find(Boolean);
    if (!found) throw new Error(`no service ${name}`);
    return found;
  };
  const filesOf = (name: string): Files => {
    const targets = service(name).volumes?.map(({ target }) => `${target}/`) ?? [];
    const isMounted = ([path]: [string, string]) =>
      targets.some((target) => path.startsWith(target));
    return Object.fromEntries(Object.entries(secrets).filter(isMounted));
  };

  beforeAll(async () => {
    await buildComposeCheck();
    plain = await loadProject();
    alone = await loadProject(["standalone"]);
    observed = await loadProject(["observability"]);
    secrets = await makeSecrets(service("secrets"), folder);
  }, buildMsMax);

  it("starts the stores and the six services, and with the profile standalone one process only", () => {
    expect(Object.keys(plain.services).sort()).toEqual([...six, ...stores, ...once].sort());
    expect(Object.keys(alone.services).sort()).toEqual(["secrets", "standalone"]);
  });

  it("starts the observers beside the six services with the profile observability", () => {
    expect(Object.keys(observed.services).sort()).toEqual(
      [...Object.keys(plain.services), ...observers].sort(),
    );
    for (const name of observers)
      expect(service(name)).toMatchObject({
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        mem_limit: expect.anything(),
      });
  });

  it("fits the schema, which refuses a key that Compose does not know", async () => {
    const file = join(folder, "wrong.yml");
    writeFileSync(file, "services: { a: { image: a, comand: [b] } }");

    const { code, stderr } = await runComposeCheck(file);

    expect(code).toBe(1);
    expect(stderr).toContain("comand");
  });

  it.each(own)("gives %s variables that it reads, with values that it takes", (name) => {
    const { environment = {}, command } = service(name);

    expect(problemsOf(name, environment, filesOf(name), ofTheImage)).toEqual([]);
    expect(openSecrets(name, environment).filter((variable) => !isOpenHere(variable))).toEqual([]);
    expect(command).toEqual([`services/${name}/process/main.ts`]);
  });

  it("lets one process prepare MongoDB before any service is started", () => {
    const { command, environment = {} } = service("migrate");

    expect(problemsOf("migrate", environment, {}, ofTheImage)).toEqual([]);
    expect(command).toEqual(["services/migrate/process/main.ts"]);
    expect(gatesOf(plain, "migrate").get("mongodb-init")).toBe("service_completed_successfully");
  });

  it("starts the gateway last, when all other containers are healthy or done", () => {
    const gates = gatesOf(plain, "gateway");

    expect([...gates.keys()].sort()).toEqual(
      [...six.filter((name) => name !== "gateway"), ...stores, ...once].sort(),
    );
    for (const [name, condition] of gates)
      expect(condition).toBe(
        once.includes(name) ? "service_completed_successfully" : "service_healthy",
      );
  });

  it("starts no service before its stores are ready and its secrets are made", () => {
    for (const name of six)
      expect([...gatesOf(plain, name).keys()]).toEqual(
        expect.arrayContaining([...stores, ...once]),
      );
    expect([...gatesOf(alone, "standalone").keys()]).toEqual(["secrets"]);
  });

  it("checks that each of its own processes is ready, and that each store answers", () => {
    for (const name of own)
      expect(service(name).healthcheck?.test).toEqual([
        "CMD",
        "node",
        "deploy/image/healthcheck.js",
        "/readyz",
      ]);
    for (const name of stores) expect(service(name).healthcheck?.test).toBeDefined();
  });

  it("lets its own containers do nothing but their work", () => {
    for (const name of [...own, "migrate", "secrets"]) {
      expect(service(name)).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        pids_limit: expect.any(Number),
      });
    }
    for (const name of [...own, ...stores]) expect(service(name).mem_limit).toBeDefined();
  });

  it("lets only the service that makes secrets write them", () => {
    const holders = own.flatMap((name) => service(name).volumes ?? []);

    const writable = holders.filter((volume) => volume.read_only !== true);

    expect(writable.map(({ source }) => source)).toEqual(["data"]);
    expect(service("secrets").network_mode).toBe("none");
  });

  it("gives the tenant's token and keys to none but the service that seeds them", () => {
    const holders = six.filter((name) =>
      Object.keys(filesOf(name)).some((path) => path.endsWith("token")),
    );

    expect(holders).toEqual(["management"]);
  });

  it("keeps the stores, and all workers except the deliverer, on a network without a way out", () => {
    const leadOut = (name: string): boolean =>
      Object.keys(service(name).networks ?? {}).some(
        (network) => !plain.networks[network]?.internal,
      );

    expect([...six, ...stores, ...once].filter(leadOut).sort()).toEqual([
      "deliverer",
      "gateway",
      "management",
    ]);
  });

  it("publishes ports to this machine only, and no port of a store or a worker", () => {
    const publishing = Object.entries({ ...plain.services, ...alone.services }).filter(
      ([, { ports }]) => ports !== undefined,
    );

    expect(publishing.map(([name]) => name).sort()).toEqual([
      "gateway",
      "management",
      "standalone",
    ]);
    for (const [, { ports = [] }] of publishing)
      for (const { host_ip } of ports) expect(host_ip).toBe("127.0.0.1");
  });

  it("gives a stopping process longer than its drain, and five seconds to end in", () => {
    for (const name of own) {
      const env = { ...ofTheImage, ...service(name).environment };
      const { drainSeconds } = configOf(name, env, filesOf(name));
      expect(secondsOf(service(name).stop_grace_period)).toBeGreaterThan(Number(drainSeconds) + 5);
    }
  });

  describe("pins", () => {
    it.each([...stores, "mongodb-init", ...observers])(
      "the image of %s by version and digest",
      (name) => {
        expect(service(name).image).toMatch(
          /^[a-z/-]+:v?\d+\.\d+\.\d+(-[a-z]+)?@sha256:[0-9a-f]{64}$/,
        );
      },
    );
  });
});

/** Addresses count as secrets since they may hold a password. The stores here have none. */
const isOpenHere = (variable: string): boolean =>
  variable === "POSTHASTE_REDIS_URL" || variable === "POSTHASTE_MONGODB_URI";

/** Runs the command of the service `secrets` with its folders below `folder`. Returns the files by their paths in a container. */
async function makeSecrets({ command = [] }: ComposeService, folder: string): Promise<Files> {
  const [script = "", ...folders] = command;
  const wanted = folders.map((argument) => argument.split("="));
  for (const [path = ""] of wanted) mkdirSync(join(folder, path), { recursive: true });
  await mustRun(process.execPath, [
    join(root, script),
    ...folders.map((argument) => join(folder, argument)),
  ]);
  const paths = wanted.flatMap(([path = "", names = ""]) =>
    names.split(",").map((name) => `${path}/${name}`),
  );
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

function secondsOf(duration = ""): number {
  const [, minutes = "0", seconds = "0"] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}
