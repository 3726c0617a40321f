import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";

type Taken = { readonly bytes: number; readonly takenBytes: number };

const attempts = fileURLToPath(new URL("bodies.fixture.ts", import.meta.url));
/** A smaller body is not bounded by its size. */
const smallBytes = 1024 * 1024;

it("no JSON body of any endpoint takes more than three times its size to be read or refused", async () => {
  // With a small new space, garbage is collected before it hides the memory that is kept.
  const flags = ["--expose-gc", "--max-semi-space-size=1"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, attempts], {
    maxBuffer: 16 * 1024 * 1024,
  });
  const taken = JSON.parse(stdout) as readonly Taken[];

  expect(
    taken.filter(({ bytes, takenBytes }) => takenBytes > Math.max(3 * bytes, smallBytes)),
  ).toEqual([]);
  // One of the largest was read, not refused.
  expect(Math.max(...taken.map(({ takenBytes }) => takenBytes))).toBeGreaterThan(smallBytes);
});
