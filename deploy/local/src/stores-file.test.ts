import { beforeEach, describe, expect, it } from "@jest/globals";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { removeStoresFile, writeStoresFile } from "./stores-file.ts";
import { type Stores } from "./stores.ts";

const stores: Stores = {
  mongodb: { name: "MongoDB 6.0.5", uri: "mongodb://127.0.0.1:1/" },
  missing: [],
  stop: async () => undefined,
};
let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

describe("the file of the stores", () => {
  it("names each server with its address", () => {
    const file = join(folder, "stores.json");

    writeStoresFile(file, stores);

    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      mongodb: { name: "MongoDB 6.0.5", uri: "mongodb://127.0.0.1:1/" },
    });
  });

  it("goes with its stack", () => {
    const file = join(folder, "stores.json");
    writeStoresFile(file, stores);

    removeStoresFile(file, stores);

    expect(existsSync(file)).toBe(false);
  });

  it("stays when another stack has written its own there", () => {
    const file = join(folder, "stores.json");
    writeStoresFile(file, stores);
    writeFileSync(file, "another's");

    removeStoresFile(file, stores);

    expect(readFileSync(file, "utf8")).toBe("another's");
  });
});
