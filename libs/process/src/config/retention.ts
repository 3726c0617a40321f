/** Retention: how full the disk may be while bodies are kept. */
import { wholeNumber } from "./values.ts";

export const retentionShape = {
  keptBodiesDiskPercent: wholeNumber(0, 100, {
    subject: "Retention",
    summary:
      "How full the disk of the store may be, in percent, before bodies of ended messages are removed earlier than plans say: each minute the older half of them.",
    default: "80",
  }),
};
