/** Schedules: which missed slots fire after an outage. */
import { variables } from "./variable.ts";
import { wholeNumber } from "./values.ts";

export const schedulesShape = {
  scheduleLateMinutes: wholeNumber(0, 1_440).register(variables, {
    subject: "Schedules",
    rule: "a whole number from 0 to 1440",
    summary:
      "How many minutes old a missed slot of a schedule may be and still fire. Missed slots of the last five minutes all fire; without any, the last missed slot fires if it is within this bound. Must be the same in all processes that fire schedules.",
    default: "60",
  }),
};
