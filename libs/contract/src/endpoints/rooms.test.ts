import { readdirSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { operationIds } from "./index.ts";

const isRow = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "method" in value && "path" in value;

async function operationsOf(file: string): Promise<readonly string[]> {
  const exported: unknown = await import(`./${file}`);
  return tableOf(exported).flatMap(([, table]) => {
    const rows = tableOf(table);
    return rows.every(([, row]) => isRow(row)) ? rows.map(([operation]) => operation) : [];
  });
}

const tableOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];

describe("the folders of endpoints", () => {
  it("are all in the index, and no two have an operation of one name", async () => {
    const files = readdirSync(import.meta.dirname).filter(
      (file) => file.endsWith(".ts") && !/\.(test|fixture)\.ts$/.test(file) && file !== "index.ts",
    );

    const operations = (await Promise.all(files.map(operationsOf))).flat();

    expect(operations.toSorted()).toEqual([...operationIds].toSorted());
  });
});
