/** Tests each method of the npm package `@upstash/qstash`, unmodified. `sdk.e2e` tests a program in development mode. */
import { describe } from "@jest/globals";
import { join } from "node:path";
import { itIsServed } from "./driven.ts";

const folder = join(import.meta.dirname, "clients/javascript");
const node = (program: string) =>
  [process.execPath, "--disable-warning=ExperimentalWarning", join(folder, program)] as const;

describe("the server", () => {
  itIsServed({
    name: "the JavaScript client",
    missing: undefined,
    prepare: async () => ({ drive: node("drive.ts"), verify: node("verify.ts") }),
    arrivals: ["publish", "publish-json", "callback", "batch", "enqueue", "group-1", "group-2"].map(
      (path) => `/js/${path}`,
    ),
    broken: ["/js/broken"],
    signed: "/js/publish",
  });
});
