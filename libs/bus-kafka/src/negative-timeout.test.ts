/** Covers patches/kafkajs@2.2.4.patch (kafkajs issue 1751). */
import { expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";

const requestQueue = createRequire(import.meta.url).resolve("kafkajs/src/network/requestQueue");
const timeoutMs = 60_000;

it("a connection to a broker arms no timer with a negative delay", async () => {
  const { stdout, stderr } = await runWithQueue(`
    queue.checkPendingRequests();
    setTimeout(() => {
      console.log("checked");
      queue.destroy();
    }, 20);
  `);

  expect(stderr).not.toContain("TimeoutNegativeWarning");
  expect(stdout).toBe("checked\n");
});

it("a request that had to wait for a throttled broker is sent afterwards", async () => {
  const { stdout } = await runWithQueue(`
    queue.maybeThrottle(200);
    queue.push({
      entry: { correlationId: 1 },
      expectResponse: true,
      sendRequest: () => console.log("sent"),
    });
    setTimeout(() => queue.destroy(), 1_000);
  `);

  expect(stdout).toBe("sent\n");
});

/** Runs the script in a process of its own: Node warns once per process, and only on its standard error. */
function runWithQueue(script: string): Promise<{ stdout: string; stderr: string }> {
  const prepared = `
    const RequestQueue = require(${JSON.stringify(requestQueue)});
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const queue = new RequestQueue({ requestTimeout: 1000, clientId: "a", broker: "b", logger });
    ${script}`;
  return promisify(execFile)(process.execPath, ["--input-type=commonjs", "-e", prepared], {
    timeout: timeoutMs / 2,
  });
}
