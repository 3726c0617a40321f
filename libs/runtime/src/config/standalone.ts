/** What only the standalone has: its directory and the catcher. */
import { z } from "zod";
import { variables } from "./variable.ts";

const subject = "Standalone";

export const standaloneShape = {
  dataDir: z
    .string()
    .regex(/^\P{Cc}{1,4096}$/u)
    .register(variables, {
      subject,
      rule: "a path",
      summary: "The directory of the embedded store. It is made if it does not exist.",
      default: "./.posthaste",
    }),
  catcher: z
    .enum(["on", "off"])
    .transform((value) => value === "on")
    .register(variables, {
      subject,
      rule: "on or off",
      summary: "A destination to try deliveries with, on the next port: it prints what arrives.",
      default: { dev: "on", production: "off" },
    }),
};
