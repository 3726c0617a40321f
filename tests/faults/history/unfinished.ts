/**
 * Finds the part of a history that is still to come: nothing, once all acknowledged messages and runs have ended and
 * all requested callbacks have come.
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
