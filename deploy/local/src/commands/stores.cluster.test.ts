/** Tests `npm run stack -- stores` as a process: the files and processes that remain when it ends, in good order or not. */
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { accepts } from "../process/probe.ts";

jest.setTimeout(600_000);

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const pollMs = 100;

type File = {
  readonly kafka: { readonly brokers: readonly string[] };
  readonly redis: { readonly url: string };
  readonly mongodb: { readonly uri: string };
};

let folder: string;
let started: ChildProcess[];

beforeEach(() => {
  folder = temporaryFolder();
  started = [];
});

afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
});

/** Starts the stack with its data below `folder`, so that the test sees whether they stay. */
function startStack(file: string): ChildProcess {
  const args = ["--disable-warning=ExperimentalWarning", main, "stores", "--until-stdin-ends"];
  const child = spawn(process.execPath, [...args, "--file", file], {
    stdio: ["pipe", "ignore", "inherit"],
    env: { ...process.env, TMPDIR: folder },
  });
  started.push(child);
  return child;
}

async function readyFile(file: string, child: ChildProcess): Promise<File> {
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`the stack ended with ${child.exitCode}`);
    await sleep(pollMs);
  }
  // Written by our own process, in the form that its unit test checks.
  return JSON.parse(readFileSync(file, "utf8")) as File;
}

const portsOf = ({ kafka, redis, mongodb }: File): number[] =>
  [...kafka.brokers, redis.url, mongodb.uri].map((address) =>
    Number(/:(\d+)\/?$/.exec(address)?.[1]),
  );

async function untilNobodyAnswers(ports: readonly number[]): Promise<void> {
  for (const port of ports) while (await accepts(port)) await sleep(pollMs);
}

async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  return new Promise((resolve) => child.once("exit", resolve));
}

it("of two stacks of stores side by side one ends with its input, and takes its data and its file along; the other, killed with -9, leaves no server and no data", async () => {
  const [one, other] = [join(folder, "one.json"), join(folder, "other.json")];
  const [first, second] = [startStack(one), startStack(other)];
  const [firstPorts, secondPorts] = [
    portsOf(await readyFile(one, first)),
    portsOf(await readyFile(other, second)),
  ];
  expect(new Set([...firstPorts, ...secondPorts]).size).toBe(
    firstPorts.length + secondPorts.length,
  );

  first.stdin?.end();

  expect(await endOf(first)).toBe(0);
  await untilNobodyAnswers(firstPorts);
  expect(existsSync(one)).toBe(false);
  expect(await Promise.all(secondPorts.map(accepts))).toEqual(secondPorts.map(() => true));

  second.kill("SIGKILL");

  await untilNobodyAnswers(secondPorts);
  // Only its file remains, since no process was left to remove it.
  while (readdirSync(folder).join() !== "other.json") await sleep(pollMs);
});
