import { describe, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { openDocuments } from "@posthaste/documents-mongo";
import { systemClock, systemRandom } from "@posthaste/process";
import { recordingLog } from "@posthaste/testing";
import { bareEnv } from "@posthaste/testing/bare-env";
import { refusedUri } from "./refused-uri.ts";

const exitCodeOfConfig = 78;
const main = fileURLToPath(import.meta.resolve("../../../services/workflow-log/process/main.ts"));

const refusalOf = (uri: string): Promise<string> =>
  openDocuments({
    uri,
    database: "test",
    clock: systemClock(),
    random: systemRandom(),
    log: recordingLog(),
  }).then(async ({ close }) => {
    await close();
    return "taken";
  }, refusedUri);

describe("an address that MongoDB's driver refuses", () => {
  it.each([
    ["mongodb://user:secret@h/?colour=red", "colour"],
    ["mongodb://user:secret@h/?authMechanism=MAGIC", "authMechanism"],
    ["mongodb://user:secret@a,b/?directConnection=true", "directConnection"],
    ["mongodb://user:secret:secret@h/", "Password contains unescaped characters"],
    ["mongodb://user:secret/secret@h/", "Password contains unescaped characters"],
    ["mongodb://user:secret@h:secret/", "malformed"],
    ["mongodb+srv://user:secret@h:27017/", "POSTHASTE_MONGODB_URI"],
  ])("is reported in one line without its password: %s", async (uri, named) => {
    const refusal = await refusalOf(uri);

    expect(refusal).toMatch(/^POSTHASTE_MONGODB_URI [^\n]+$/);
    expect(refusal).toContain(named);
    expect(refusal).not.toContain("secret");
  });

  it("ends a process as any configuration does that is refused", async () => {
    const child = spawn(process.execPath, [main], {
      env: {
        ...bareEnv,
        POSTHASTE_MONGODB_URI: "mongodb://user:secret@127.0.0.1:1/?colour=red",
        POSTHASTE_SEALING_KEYS: Buffer.alloc(32, 1).toString("base64"),
        POSTHASTE_KAFKA_BROKERS: "127.0.0.1:1",
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const ended = new Promise((resolve) => child.on("exit", resolve));

    const said = await text(child.stderr);

    expect(await ended).toBe(exitCodeOfConfig);
    expect(said.match(/POSTHASTE_MONGODB_URI.*colour/g)).toHaveLength(1);
    expect(said).not.toContain("secret");
    expect(said).not.toContain(" at ");
  });
});
