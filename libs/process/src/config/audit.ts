/** The audit log: how long its entries are kept. */
import { variables } from "./variable.ts";
import { wholeNumber } from "./values.ts";

export const auditShape = {
  auditDays: wholeNumber(1, 3_650).register(variables, {
    subject: "Audit log",
    rule: "a whole number from 1 to 3650",
    summary:
      "For how many days an entry of the audit log is kept. Entries keep the value with which they were written.",
    default: "90",
  }),
};
