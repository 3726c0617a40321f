import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { bareEnv } from "@posthaste/testing/bare-env";
import { Client as Qstash, Receiver } from "@upstash/qstash";
import { developmentToken } from "./server-process.ts";
import { firstUser } from "./users.ts";
import { destination, server, startBeforeTests } from "./suite.ts";

startBeforeTests();

const receiver = new Receiver({
  currentSigningKey: firstUser.keys.current,
  nextSigningKey: firstUser.keys.next,
});

describe("the client", () => {
  it("publishes JSON that arrives with its headers, in the Upstash dialect, and the receiver verifies it", async () => {
    const url = destination.url("/json?x=1");
    const qstash = new Qstash({
      baseUrl: `http://127.0.0.1:${server.port}`,
      token: developmentToken,
      enableTelemetry: true,
    });
    const { messageId } = await qstash.publishJSON({
      url,
      body: { hello: "world" },
      headers: { "My-Header": "a, b" },
    });

    const arrival = await destination.arrival("/json");
    expect(arrival.path).toBe("/json?x=1");
    expect(arrival.method).toBe("POST");
    expect(arrival.headers).toMatchObject({
      "content-type": "application/json",
      "my-header": "a, b",
      "user-agent": "Upstash-QStash",
      "upstash-message-id": messageId,
      "upstash-retried": "0",
    });
    const verified = receiver.verify({
      signature: String(arrival.headers["upstash-signature"]),
      body: arrival.body.toString(),
      url,
    });
    await expect(verified).resolves.toBe(true);
  });
});

describe("a program of the client in development mode", () => {
  it("finds the server without other configuration, and its receiver the development keys", async () => {
    const url = destination.url("/dev-mode");
    const program = `
      import { Client } from "@upstash/qstash";
      const { messageId } = await new Client().publish({ url: ${JSON.stringify(url)}, body: "dev" });
      process.stdout.write(messageId);`;
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: import.meta.dirname,
      env: { ...bareEnv, QSTASH_DEV: "true", QSTASH_DEV_PORT: String(server.port) },
    });

    const { stdout } = await run;
    const arrival = await destination.arrival("/dev-mode");
    expect(stdout).toContain(String(arrival.headers["upstash-message-id"]));
  });
});
