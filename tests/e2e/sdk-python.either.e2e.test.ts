/** Tests the Python package `qstash`, unmodified, with its synchronous and its asynchronous client. */
import { describe } from "@jest/globals";
import { hasPython, pythonWith } from "@posthaste/local";
import { join } from "node:path";
import { itIsServed } from "./driven.ts";

const folder = join(import.meta.dirname, "clients/python");

describe("the server", () => {
  itIsServed({
    name: "the Python client",
    missing: hasPython() ? undefined : "python3",
    prepare: async () => {
      const python = await pythonWith(folder);
      return {
        drive: [python, join(folder, "drive.py")],
        verify: [python, join(folder, "verify.py")],
      };
    },
    arrivals: ["sync", "async"].flatMap((name) =>
      ["publish", "publish-json", "batch-json", "callback", "group-1", "group-2"].map(
        (path) => `/${name}/${path}`,
      ),
    ),
    broken: ["/sync/broken", "/async/broken"],
    signed: "/sync/publish",
  });
});
