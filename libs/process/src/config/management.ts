/** The credentials of the management API: of the admin, and of operators with fewer rights. */
import { type OperatorRole } from "@posthaste/domain";
import { z } from "zod";
import { environmentName, type Rule, together, variableOf, variables } from "./variable.ts";
import { printable } from "./values.ts";

const subject = "Management";
const userSummary = "The user of the management API (Basic authentication).";
const passwordLengthMin = 16;

const operatorsLengthMax = 32_768;
const operatorsMax = 64;
const operatorPattern = /^([^\p{Cc}:\s]{1,255}):([\x21-\x7e]{1,255})$/u;

export type OperatorCredentials = {
  readonly user: string;
  readonly password: string;
  readonly role: OperatorRole;
};

const operators = (role: OperatorRole, summary: string) =>
  z
    .string()
    .max(operatorsLengthMax)
    .transform((text) => text.split(" "))
    .refine((each) => each.length <= operatorsMax && each.every((one) => operatorPattern.test(one)))
    .transform((each) =>
      each.map((one): OperatorCredentials => {
        const [, user = "", password = ""] = operatorPattern.exec(one) ?? [];
        return { user, password, role };
      }),
    )
    .optional()
    .register(variables, {
      subject,
      secret: true,
      rule: `user:password, 1 to ${operatorsMax} of them, separated by single spaces`,
      summary,
    });

const operatorsShape = {
  managementOperators: operators(
    "operator",
    "Users of the management API that may read, retry, pause and cancel.",
  ),
  managementViewers: operators("viewer", "Users of the management API that may only read."),
};

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
  managementPassword: printable(1, 255, {
    subject,
    secret: true,
    summary: `The password of that user; in production ${passwordLengthMin} characters or more.`,
  }).optional(),
  ...operatorsShape,
};

/** The management process serves nothing else, so both are required. */
export const managementProcessShape = {
  managementUser: managementShape.managementUser
    .unwrap()
    .register(variables, { ...variableOf(managementShape.managementUser), summary: userSummary }),
  managementPassword: managementShape.managementPassword.unwrap(),
  ...operatorsShape,
};

type ManagementConfig = {
  readonly managementUser?: string | undefined;
  readonly managementPassword?: string | undefined;
  readonly managementOperators?: readonly OperatorCredentials[] | undefined;
  readonly managementViewers?: readonly OperatorCredentials[] | undefined;
};

/** Returns all users of the management API, or undefined if it is off. */
export function operatorsOf({
  managementUser: user,
  managementPassword: password,
  managementOperators = [],
  managementViewers = [],
}: ManagementConfig): readonly OperatorCredentials[] | undefined {
  if (user === undefined || password === undefined) return undefined;
  return [{ user, password, role: "admin" }, ...managementOperators, ...managementViewers];
}

export const managementRules: readonly Rule[] = [
  together("managementUser", "managementPassword"),
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
  {
    keys: ["managementUser", "managementOperators", "managementViewers"],
    problemsOf: (_, { managementUser, ...texts }) =>
      lists.flatMap((key) =>
        texts[key] !== undefined && managementUser === undefined
          ? [`POSTHASTE_MANAGEMENT_USER is not set: ${environmentName(key)} requires it`]
          : [],
      ),
  },
  {
    keys: ["managementUser", "managementOperators", "managementViewers"],
    problemsOf: ({ managementUser, managementOperators, managementViewers }) => {
      const listed = [...credentialsIn(managementOperators), ...credentialsIn(managementViewers)];
      const users = [managementUser, ...listed.map(({ user }) => user)];
      return new Set(users).size === users.length
        ? []
        : [
            "POSTHASTE_MANAGEMENT_USER, POSTHASTE_MANAGEMENT_OPERATORS and POSTHASTE_MANAGEMENT_VIEWERS must name each user once",
          ];
    },
  },
  {
    keys: ["profile", "managementOperators", "managementViewers"],
    problemsOf: ({ profile, ...values }) =>
      lists.flatMap((key) =>
        profile === "production" &&
        credentialsIn(values[key]).some(({ password }) => password.length < passwordLengthMin)
          ? [
              `${environmentName(key)}: each password must have ${passwordLengthMin} characters or more in production`,
            ]
          : [],
      ),
  },
];

const listOfCredentials = z.array(z.object({ user: z.string(), password: z.string() })).catch([]);
const lists = ["managementOperators", "managementViewers"];
const credentialsIn = (list: unknown) => listOfCredentials.parse(list);
