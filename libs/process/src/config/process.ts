/** The process itself: profile, log, and shutdown. */
import { planBounds } from "@posthaste/domain";
import { levels } from "../log/human-line.ts";
import { z } from "zod";
import { profiles, type Variable, variables } from "./variable.ts";
import { wholeNumber } from "./values.ts";

const subject = "Process";
/** As long as the longest call that a plan can allow. */
const drainSecondsMax = planBounds.timeoutMsMax.max / 1_000;

const profile: Variable = {
  subject,
  rule: `one of ${profiles.join(", ")}`,
  summary:
    "`dev` accepts the public development credentials, allows loopback destinations and prints lines for people; `production` requires credentials of its own and logs JSON.",
  default: "production",
};

const logShape = {
  logLevel: z.enum(levels).register(variables, {
    subject,
    rule: "one of debug, info, warn, error",
    summary: "The lowest level that is logged.",
    default: "info",
  }),
};

const shared = {
  ...logShape,
  drainSeconds: wholeNumber(0, drainSecondsMax, {
    subject,
    summary:
      "How long running requests and attempts may continue after SIGTERM. Aborted attempts are repeated later.",
    default: "25",
  }),
};

/** For a process that runs to its end by itself. */
export const reportingShape = {
  profile: z.enum(profiles).register(variables, profile),
  ...logShape,
};

export const processShape = { profile: z.enum(profiles).register(variables, profile), ...shared };

/** `npm start` is for trying out, so the default is the dev profile. */
export const standaloneProcessShape = {
  profile: z.enum(profiles).register(variables, { ...profile, default: "dev" }),
  ...shared,
};
