/** The first tenant's credentials, used at the first start; afterwards the store has its own. */
import { dialects } from "@posthaste/domain";
import { isPublicSecret, userOf } from "@posthaste/http";
import { z } from "zod";
import { environmentName, type Rule, together, variables } from "./variable.ts";
import { printable } from "./values.ts";

const subject = "Credentials";
const tokenLengthMin = 32;
const passwordLengthMin = 16;

const signingKey = (summary: string) =>
  printable(32, 128, { subject, secret: true, summary }).optional();

export const credentialsShape = {
  token: printable(1, 1_024, {
    subject,
    secret: true,
    summary: `The first tenant's token. In production it must be set, with ${tokenLengthMin} characters or more. Workflow clients require the base64 of \`{"UserID":"…","Password":"…"}\`, with a password of ${passwordLengthMin} characters or more.`,
  }).optional(),
  signingKeyCurrent: signingKey("The key that signs deliveries. In production it must be set."),
  signingKeyNext: signingKey(
    "The key that follows at the next rotation. In production it must be set.",
  ),
  dialect: z.enum(dialects).register(variables, {
    subject,
    rule: "service or upstash",
    summary:
      "The dialect of the first tenants, used for a request without any `Service-` or `Upstash-` header. Clients of QStash in Python and Go send such requests and require `upstash`.",
    default: "service",
  }),
};

export const credentialRules: readonly Rule[] = [
  {
    keys: ["profile", "token", "signingKeyCurrent", "signingKeyNext"],
    problemsOf: ({ profile, ...values }) => {
      if (profile !== "production") return [];
      return ["token", "signingKeyCurrent", "signingKeyNext"].flatMap((key) => {
        const [name, value] = [environmentName(key), values[key]];
        if (value === undefined)
          return [`${name} is not set: the production profile requires its own`];
        return typeof value === "string" && isPublicSecret(value)
          ? [`${name} is a public development credential: the production profile refuses it`]
          : [];
      });
    },
  },
  {
    keys: ["profile", "token"],
    problemsOf: ({ profile, token }) =>
      profile === "production" && typeof token === "string" && isWeak(token)
        ? [
            `POSTHASTE_TOKEN can be guessed: it must have ${tokenLengthMin} characters or more, and a password inside it ${passwordLengthMin}`,
          ]
        : [],
  },
  {
    keys: ["signingKeyCurrent", "signingKeyNext"],
    problemsOf: ({ signingKeyCurrent, signingKeyNext }) =>
      signingKeyCurrent !== undefined && signingKeyCurrent === signingKeyNext
        ? ["POSTHASTE_SIGNING_KEY_NEXT must differ from POSTHASTE_SIGNING_KEY_CURRENT"]
        : [],
  },
  {
    keys: ["signingKeyCurrent", "signingKeyNext"],
    problemsOf: (values, texts) =>
      values["profile"] === "dev"
        ? together("signingKeyCurrent", "signingKeyNext").problemsOf(values, texts)
        : [],
  },
];

/**
 * Reports whether the token is weak. In a token with a user only the password is secret. Public tokens are not weak:
 * another problem names them.
 */
function isWeak(token: string): boolean {
  if (isPublicSecret(token)) return false;
  const user = userOf(token);
  return (
    token.length < tokenLengthMin ||
    (user !== undefined && user.password.length < passwordLengthMin)
  );
}
