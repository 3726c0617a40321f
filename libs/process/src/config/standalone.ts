/** Variables of the standalone alone: its directory and the catcher. */
import { z } from "zod";
import { sealingShape } from "./stores.ts";
import { variableOf, variables } from "./variable.ts";

const subject = "Standalone";
const sealing = variableOf(sealingShape.sealingKeys);

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
  sealingKeys: sealingShape.sealingKeys.optional().register(variables, {
    ...sealing,
    summary: `${sealing.summary} The standalone makes one of its own when it is given none, and keeps it as \`sealing.key\` in its data directory.`,
  }),
};
