/** Variables of the standalone alone: its directory and the catcher. */
import { z } from "zod";
import { sealingShape } from "./stores.ts";
import { onOff } from "./values.ts";
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
      summary: "The directory of the embedded store, which is made if it does not exist.",
      default: "./.posthaste",
    }),
  catcher: onOff({
    subject,
    summary: "A destination for trying deliveries, on the next port, which prints each request.",
    default: { dev: "on", production: "off" },
  }),
  sealingKeys: sealingShape.sealingKeys.optional().register(variables, {
    ...sealing,
    summary: `${sealing.summary} If not set, the standalone makes a key, and keeps it as \`sealing.key\` in its data directory.`,
  }),
};
