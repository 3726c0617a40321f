/** Covers patches/kafkajs@2.2.4.patch: kafkajs asked the next broker, and finally reported that there was no coordinator. */
import { expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";

const brokerPool = createRequire(import.meta.url).resolve("kafkajs/src/cluster/brokerPool");
const timeoutMs = 60_000;

it("a client that looks for the coordinator of a forbidden group reports that the group is forbidden", async () => {
  const { stdout } = await run(`
      const { withBroker } = require(${JSON.stringify(brokerPool)}).prototype;
      const pool = { brokers: { 1: {}, 2: {} }, findBroker: async () => ({}) };
      const ask = (type) =>
        withBroker.call(pool, () => Promise.reject(Object.assign(new Error(type), { type })));
      ask("GROUP_COORDINATOR_NOT_AVAILABLE")
        .then(console.log)
        .then(() => ask("GROUP_AUTHORIZATION_FAILED"))
        .catch(({ type }) => console.log(type));
    `);

  expect(stdout).toBe("null\nGROUP_AUTHORIZATION_FAILED\n");
});

const run = (script: string) =>
  promisify(execFile)(process.execPath, ["--input-type=commonjs", "-e", script], {
    timeout: timeoutMs / 2,
  });
