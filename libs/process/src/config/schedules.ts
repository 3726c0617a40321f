/** Schedules: which missed slots fire after an outage. */
import { wholeNumber } from "./values.ts";

export const schedulesShape = {
  scheduleLateMinutes: wholeNumber(0, 1_440, {
    subject: "Schedules",
    summary:
      "How many minutes old a missed slot of a schedule may be and still fire. Missed slots of the last five minutes all fire; without any, the last missed slot fires if it is within this bound. Must be the same in all processes that fire schedules.",
    default: "60",
  }),
};
