/**
 * Tests the docker, helm and kubectl commands of the pages without an engine or a cluster: the Compose file has their
 * profiles and services, the chart takes their values, and the chart makes the objects that they name.
 */
import { beforeAll, expect, it, jest } from "@jest/globals";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { parseAllDocuments } from "yaml";
import { addedKinds, chart, valuesFile } from "../chart/manifests.ts";
import { loadProject } from "../compose/project.ts";
import { readDockerfile } from "../image/dockerfile.ts";
import { root } from "../root.ts";
import { buildComposeCheck } from "../tools/compose-check.ts";
import { buildMsMax, describeWith } from "../tools/describe-with.ts";
import { buildHelm, runHelmTemplate } from "../tools/helm.ts";
import { kubernetesVersion } from "../tools/kubernetes-validate.ts";
import { type Call, callsOf } from "./calls.ts";

jest.setTimeout(buildMsMax);

type Made = { readonly kind: string; readonly metadata: { readonly name: string } };

const cluster = [
  "--kube-version",
  kubernetesVersion,
  ...addedKinds.flatMap((api) => ["--api-versions", api]),
];

describeWith(["go"], "the pages", () => {
  beforeAll(async () => {
    await buildHelm();
    await buildComposeCheck();
  });

  it.each(blocksOf("sh deploy"))("say what can be done: $page, line $line", async ({ code }) => {
    const calls = await callsOf(code);

    expect(calls).not.toEqual([]);
    for (const call of calls) await judge(call);
  });

  it.each(blocksOf("yaml values"))(
    "have values that the chart takes: $page, line $line",
    async ({ code }) => {
      const folder = temporaryFolder();
      const file = join(folder, "values.yaml");
      writeFileSync(file, code);
      const values = ["--values", valuesFile("minimal"), "--values", file];

      const { code: exit, stderr } = await runHelmTemplate(["x", chart, ...values, ...cluster], {});

      expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    },
  );
});

/** Rejects a command that has no check here. */
async function judge(call: Call): Promise<void> {
  const [verb = "", ...args] = call.args;
  if (call.program === "helm") return judgeHelm(verb, args);
  if (call.program === "kubectl") return judgeKubectl(call.args);
  if (verb === "compose") return judgeCompose(args);
  return judgeDocker(verb, args);
}

async function judgeHelm(verb: string, args: readonly string[]): Promise<void> {
  if (verb === "test") return expect(await madeBy("minimal")).toContain("Pod/posthaste-answers");
  expect(["install", "upgrade", "template"]).toContain(verb);
  const own = args.filter((arg) => arg !== "--create-namespace" && arg !== "--reuse-values");
  const stores = args.includes("--reuse-values") ? ["--values", valuesFile("minimal")] : [];
  const secrets = verb === "template" ? undefined : {};
  const { code, stderr } = await runHelmTemplate([...own, ...stores, ...cluster], secrets);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

const credentials = [
  "token",
  "signing-key-current",
  "signing-key-next",
  "sealing-keys",
  "management-password",
];

/** Judges `kind/name` or `kind name`. */
async function judgeKubectl(args: readonly string[]): Promise<void> {
  const words = args.join(" ");
  const literals = args.flatMap((arg) => /^--from-literal=([a-z-]+)=./.exec(arg)?.[1] ?? []);
  if (words.includes("create secret generic")) return expect(literals).toEqual(credentials);
  const [, kind = "", name = ""] =
    /\b(deployment|statefulset|service|secret)[/ ]([a-z-]+)/.exec(words) ?? [];
  const made = [
    ...(await madeBy("minimal")),
    ...(await madeBy("standalone")),
    ...(await madeBy("minimal", "observability.enabled=true,metricsPort=9464")),
  ];
  expect(made.map((one) => one.toLowerCase())).toContain(`${kind}/${name}`);
}

async function madeBy(valueSet: string, settings = ""): Promise<readonly string[]> {
  const values = ["--values", valuesFile(valueSet), "--set", settings];
  const { stdout } = await runHelmTemplate(["posthaste", chart, ...values, ...cluster], {});
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Made | null)
    .flatMap((made) => (made === null ? [] : [`${made.kind}/${made.metadata.name}`]));
}

async function judgeCompose(args: readonly string[]): Promise<void> {
  const profiles = args.flatMap((arg, at) => (arg === "--profile" ? (args[at + 1] ?? []) : []));
  const { services } = await loadProject(profiles);
  const [verb, ...rest] = args.filter((arg) => arg !== "--profile" && !profiles.includes(arg));
  if (verb === "exec") return expect(Object.keys(services)).toContain(rest[0]);
  expect(verb).toBe("up");
  expect(["--build", "--detach"]).toEqual(expect.arrayContaining(rest));
}

const runFlags = /^(--read-only|--rm|--tmpfs|-p|-v|--env-file)$/;

async function judgeDocker(verb: string, args: readonly string[]): Promise<void> {
  if (verb === "build") {
    const file = args[args.indexOf("-f") + 1] ?? "";
    expect(existsSync(join(root, file))).toBe(true);
    expect(readDockerfile()).not.toEqual([]);
    return;
  }
  expect(verb).toBe("run");
  const image = args.indexOf("posthaste");
  const file = args[image + 1] ?? "";
  for (const flag of args.slice(0, image).filter((arg) => arg.startsWith("-")))
    expect(flag).toMatch(runFlags);
  expect(existsSync(join(root, file))).toBe(true);
}
