/** Tests the stack as README.md starts it, from its first line to its last. */
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { blocksOf } from "@posthaste/testing/pages";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";

jest.setTimeout(600_000);

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const pollMs = 100;

let folder: string;
let stack: ChildProcess;
let output: string;

beforeEach(() => {
  folder = temporaryFolder();
  output = "";
  const command = `${blocksOf("sh stack")[0]?.code.trim()} -- --until-stdin-ends`;
  const env = { ...process.env, TMPDIR: folder };
  stack = spawn("sh", ["-c", command], { cwd: root, env, detached: true });
  for (const stream of [stack.stdout, stack.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
});

afterEach(() => {
  if (stack.exitCode === null && stack.signalCode === null) signal("SIGKILL");
});

/** Sends a signal to the whole process group, as a terminal does. */
const signal = (name: NodeJS.Signals) => process.kill(-(stack.pid ?? 0), name);

async function untilSaid(words: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = words.exec(output);
    if (found) return found;
    if (stack.exitCode !== null) throw new Error(`the stack ended: ${output}`);
    await sleep(pollMs);
  }
}

/** Runs the command that the stack prints, as a first user would. */
async function publishAsShown(): Promise<number> {
  const [, url = ""] = await untilSaid(/curl -X POST (\S+)/);
  const [, token = ""] = await untilSaid(/Authorization: (Bearer \S+)"/);
  await untilSaid(/Ctrl-C stops everything/);
  const headers = { Authorization: token, "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: '{"hello":"world"}' });
  return answer.status;
}

describe("npm run stack", () => {
  it("the message that it suggests arrives at the named address, and Ctrl-C leaves nothing behind", async () => {
    expect(await publishAsShown()).toBe(200);
    await untilSaid(/caught {2}POST \/hello {2}17 B {2}msg_/);
    const names = "management|workflow-log|callback-dispatcher|deliverer|scheduler|gateway";
    expect(output.match(new RegExp(`(${names}) 1 +ready`, "g"))).toHaveLength(6);

    signal("SIGINT");

    await once(stack, "close");
    expect(readdirSync(folder)).toEqual([]);
    expect(output.match(new RegExp(`(${names}) 1 +ended`, "g"))).toHaveLength(6);
  });
});
