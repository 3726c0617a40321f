/**
 * Finds what is still to come of a history: nothing, once all acknowledged messages and runs have ended and all callbacks that were asked
 * for have come.
 */
import { unread, untold } from "./callbacks.ts";
import { lost } from "./deliveries.ts";
import { type History } from "./journal.ts";
import { standing } from "./runs.ts";
import { type Violation } from "./violation.ts";

export const unfinished = (history: History): readonly Violation[] => [
  ...lost(history),
  ...untold(history),
  ...unread(history),
  ...standing(history),
];
