/** The console, which gateways serve to tenants and management to the operator. */
import { z } from "zod";
import { variables } from "./variable.ts";

export const consoleShape = {
  console: z.string().min(1).max(4_096).register(variables, {
    subject: "HTTP",
    rule: "a path, or off",
    summary:
      "The folder of the built console, which is served under `/console/`, and the reference of the API inside it, under `/docs/`; `off`: both are not served. A missing folder is not served either.",
    default: "apps/console/dist",
  }),
};
