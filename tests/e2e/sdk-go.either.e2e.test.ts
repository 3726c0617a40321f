import { describe } from "@jest/globals";
import { goProgram, hasGo } from "@posthaste/local";
import { join } from "node:path";
import { itIsServed } from "./driven.ts";

describe("the server", () => {
  itIsServed({
    name: "the Go client",
    missing: hasGo() ? undefined : "go",
    prepare: async () => {
      const client = await goProgram(join(import.meta.dirname, "clients/go"));
      return { drive: [client], verify: [client, "verify"] };
    },
    arrivals: ["publish", "publish-json", "batch-json", "callback", "group-1", "group-2"].map(
      (path) => `/go/${path}`,
    ),
    broken: ["/go/broken"],
    signed: "/go/publish",
  });
});
