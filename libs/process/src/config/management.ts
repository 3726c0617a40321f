/** The credentials of the management API. */
import { z } from "zod";
import { type Rule, variableOf, variables } from "./variable.ts";
import { printable } from "./values.ts";

const subject = "Management";
const userSummary = "The user of the management API (Basic authentication).";
const passwordLengthMin = 16;

export const managementShape = {
  managementUser: z
    .string()
    .regex(/^[^\p{Cc}:]{1,255}$/u)
    .optional()
    .register(variables, {
      subject,
      rule: "1 to 255 characters without a colon",
      summary: `${userSummary} Not set: the API is off.`,
    }),
  managementPassword: printable(1, 255)
    .optional()
    .register(variables, {
      subject,
      secret: true,
      rule: "1 to 255 printable characters without spaces",
      summary: `Its password; in production ${passwordLengthMin} characters or more.`,
    }),
};

/** The management process serves nothing else, so both are required. */
export const managementProcessShape = {
  managementUser: managementShape.managementUser
    .unwrap()
    .register(variables, { ...variableOf(managementShape.managementUser), summary: userSummary }),
  managementPassword: managementShape.managementPassword
    .unwrap()
    .register(variables, variableOf(managementShape.managementPassword)),
};

export const managementRules: readonly Rule[] = [
  {
    keys: ["managementUser", "managementPassword"],
    problemsOf: ({ managementUser, managementPassword }) =>
      (managementUser === undefined) === (managementPassword === undefined)
        ? []
        : [
            "POSTHASTE_MANAGEMENT_USER and POSTHASTE_MANAGEMENT_PASSWORD go together: set both or none",
          ],
  },
  {
    keys: ["profile", "managementPassword"],
    problemsOf: ({ profile, managementPassword }) =>
      profile === "production" &&
      typeof managementPassword === "string" &&
      managementPassword.length < passwordLengthMin
        ? [
            `POSTHASTE_MANAGEMENT_PASSWORD must have ${passwordLengthMin} characters or more in production`,
          ]
        : [],
  },
];
