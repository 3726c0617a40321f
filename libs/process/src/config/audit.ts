/** The audit log: how long its entries are kept. */
import { wholeNumber } from "./values.ts";

export const auditShape = {
  auditDays: wholeNumber(1, 3_650, {
    subject: "Audit log",
    summary:
      "For how many days an entry of the audit log is kept. Entries keep the value with which they were written.",
    default: "90",
  }),
};
