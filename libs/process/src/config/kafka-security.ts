/** How a process authenticates to the brokers, and the brokers to it. */
import { z } from "zod";
import { environmentName, type Rule, together, variables } from "./variable.ts";
import { tlsCa, tlsCertificate, tlsKey, tlsRules } from "./tls.ts";
import { httpsUrl, httpsUrlRule, onOff, printable } from "./values.ts";

const subject = "Kafka, Redis and MongoDB";

export const kafkaSecurityShape = {
  kafkaTls: onOff({
    subject,
    summary: "TLS to the brokers.",
    default: "off",
  }),
  kafkaTlsCa: tlsCa("Kafka"),
  kafkaTlsCertificate: tlsCertificate("Kafka"),
  kafkaTlsKey: tlsKey("Kafka"),
  kafkaMechanism: z
    .enum(["plain", "scram-sha-256", "scram-sha-512", "oauthbearer", "aws-msk-iam"])
    .register(variables, {
      subject,
      rule: "one of plain, scram-sha-256, scram-sha-512, oauthbearer, aws-msk-iam",
      summary:
        "How the brokers authenticate this process (SASL): a user and a password; a token of an OpenID provider; or the role of this process at AWS, for MSK.",
      default: "scram-sha-512",
    }),
  kafkaUser: printable(1, 255, {
    subject,
    summary: "The user at the brokers. Not set: the brokers ask for no user.",
  }).optional(),
  kafkaPassword: printable(1, 255, {
    subject,
    secret: true,
    summary: "Its password.",
  }).optional(),
  kafkaOauthTokenUrl: httpsUrl().optional().register(variables, {
    subject,
    rule: httpsUrlRule,
    summary:
      "With `oauthbearer`: the token endpoint of the provider, which answers to client credentials.",
  }),
  kafkaOauthClientId: printable(1, 512, {
    subject,
    summary: "With `oauthbearer`: the id under which the provider knows this installation.",
  }).optional(),
  kafkaOauthClientSecret: printable(1, 1_024, {
    subject,
    secret: true,
    summary: "Its secret.",
  }).optional(),
  kafkaOauthScope: z
    .string()
    .max(512)
    .regex(/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/)
    .optional()
    .register(variables, {
      subject,
      rule: "scopes separated by single spaces",
      summary:
        "With `oauthbearer`: the scopes to ask the provider for. Not set: the provider's default.",
    }),
};

const oauth = ["kafkaOauthTokenUrl", "kafkaOauthClientId", "kafkaOauthClientSecret"];
const oauthToo = [...oauth, "kafkaOauthScope"];

export const kafkaSecurityRules: readonly Rule[] = [
  together("kafkaUser", "kafkaPassword"),
  ...tlsRules("Kafka", "kafkaTls", (tls) =>
    tls === false ? "POSTHASTE_KAFKA_TLS is off" : undefined,
  ),
  {
    keys: ["kafkaMechanism", "kafkaUser", ...oauthToo],
    problemsOf: ({ kafkaMechanism: mechanism }, texts) =>
      mechanism === "oauthbearer"
        ? [
            ...missing(oauth, texts).map((name) => `${name} is not set: oauthbearer requires it`),
            ...given(["kafkaUser"], texts).map((name) => `${name} is set: oauthbearer has no user`),
          ]
        : given(oauthToo, texts).map(
            (name) => `${name} is set, and POSTHASTE_KAFKA_MECHANISM is not oauthbearer`,
          ),
  },
  {
    keys: ["kafkaMechanism", "kafkaTls", "kafkaUser"],
    problemsOf: ({ kafkaMechanism, kafkaTls }, texts) =>
      kafkaMechanism !== "aws-msk-iam"
        ? []
        : [
            ...(kafkaTls === false ? ["POSTHASTE_KAFKA_TLS is off: aws-msk-iam requires TLS"] : []),
            ...given(["kafkaUser"], texts).map((name) => `${name} is set: aws-msk-iam has no user`),
          ],
  },
];

type Texts = Parameters<Rule["problemsOf"]>[1];
const given = (keys: readonly string[], texts: Texts): readonly string[] =>
  keys.filter((key) => texts[key] !== undefined).map(environmentName);
const missing = (keys: readonly string[], texts: Texts): readonly string[] =>
  keys.filter((key) => texts[key] === undefined).map(environmentName);
