/** Retention: how full the disk may be while bodies are kept. */
import { variables } from "./variable.ts";
import { wholeNumber } from "./values.ts";

export const retentionShape = {
  keptBodiesDiskPercent: wholeNumber(0, 100).register(variables, {
    subject: "Retention",
    rule: "a whole number from 0 to 100",
    summary:
      "How full the disk of the store may be, in percent, before bodies of ended messages are removed earlier than plans say: each minute the older half of them.",
    default: "80",
  }),
};
