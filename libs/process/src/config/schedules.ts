/** Schedules: which missed slots fire after an outage. */
import { variables } from "./variable.ts";
import { wholeNumber } from "./values.ts";

export const schedulesShape = {
  scheduleLateMinutes: wholeNumber(0, 1_440).register(variables, {
    subject: "Schedules",
    rule: "a whole number from 0 to 1440",
    summary:
      "Of the slots that a schedule has missed, those of the last five minutes fire; if there is none, the last one fires if it is no older than so many minutes. The same for all that fire.",
    default: "60",
  }),
};
