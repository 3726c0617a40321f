import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { examine, type Finding } from "./doctor.ts";

let folder: string;
let taken: Server;
let port: number;
beforeEach(async () => {
  folder = temporaryFolder();
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  ({ port } = taken.address() as AddressInfo);
});
afterEach(async () => {
  await new Promise((resolve) => taken.close(resolve));
});

const verdictsIn = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ subject, verdict }) => [subject, verdict]));

describe("an examination", () => {
  it("finds nothing wrong with a folder of its own, and leaves none behind", async () => {
    const dataDir = join(folder, "data");
    const findings = await examine({ dataDir, host: "127.0.0.1", port: 0 });

    expect(verdictsIn(findings)).toMatchObject({
      ...{ versions: "ok", "data folder": "ok", store: "ok" },
      "address 127.0.0.1:0": "ok",
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("names the problems, and how to fix them", async () => {
    chmodSync(folder, 0o755);
    const db = new DatabaseSync(join(folder, "posthaste.db"));
    db.exec("PRAGMA user_version = 9999");
    db.close();

    const findings = await examine({ dataDir: folder, host: "127.0.0.1", port });

    expect(verdictsIn(findings)).toMatchObject({
      ...{ "data folder": "warning", store: "wrong", [`address 127.0.0.1:${port}`]: "wrong" },
    });
    for (const { verdict, remedy } of findings)
      if (verdict !== "ok") expect(remedy).toEqual(expect.any(String));
  });

  it("says why a folder cannot be used", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");

    const findings = await examine({ dataDir: file, host: "127.0.0.1", port: 0 });

    const wrong = findings.filter(({ verdict }) => verdict === "wrong");
    expect(wrong.map(({ subject }) => subject)).toEqual(["data folder"]);
  });
});
