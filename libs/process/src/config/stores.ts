/** The servers of the distributed shape. The standalone reads none of these variables. */
import { z } from "zod";
import { kafkaSecurityRules, kafkaSecurityShape } from "./kafka-security.ts";
import { tlsCa, tlsCertificate, tlsKey, tlsRules } from "./tls.ts";
import { redisRules } from "./redis.ts";
import { type Rule, variables } from "./variable.ts";
import { address, onOff, wholeNumber } from "./values.ts";

const subject = "Kafka, Redis and MongoDB";
const brokersMax = 64;
const sealingKeyBytes = 32;
const sealingKeysMax = 16;
/** The most heavy reads of one tenant at once, as in documents-mongo. */
const listsOfTenantMax = 3;
/** Between the end of a heavy read at the server and the end of the patience, for the answer to arrive. */
const heavyBelowPatienceMs = 100;

/** For services that insert messages. */
export const namedDeliveryShape = {
  kafkaBodies: onOff({
    subject,
    summary:
      "Whether small messages that are due at once are handed to a deliverer over Kafka, with their bodies and forwarded headers. `off`: no topic holds a body, and each such message costs one more claim and one more read.",
    default: "on",
  }),
};

export const busShape = {
  kafkaBrokers: z
    .string()
    .transform((text) => text.split(",").map((broker) => broker.trim()))
    .refine((brokers) => brokers.length <= brokersMax && brokers.every(isHostAndPort))
    .transform((brokers): readonly string[] => Object.freeze(brokers))
    .register(variables, {
      subject,
      rule: "host:port, or several separated by commas",
      summary: "Kafka brokers for the first connection; the client learns the others from them.",
    }),
  kafkaPrefix: z
    .string()
    .regex(/^[0-9A-Za-z._-]{0,64}$/)
    .register(variables, {
      subject,
      rule: "at most 64 letters, digits and . _ -",
      summary: "The prefix of the names of all topics and consumer groups.",
      default: "posthaste.",
    }),
  kafkaPartitions: wholeNumber(1, 64, {
    subject,
    summary:
      "Partitions of a topic when it is made: the most instances of a service that share its work.",
    default: "16",
  }),
  kafkaReplication: wholeNumber(1, 16, {
    subject,
    summary:
      "Replicas of a topic when it is made; with 3 or more its `min.insync.replicas` is 2, else 1. Not set: both are the brokers' defaults.",
  }).optional(),
  kafkaSessionMs: wholeNumber(1_000, 300_000, {
    subject,
    summary:
      "A process whose heartbeats stop for this many milliseconds loses its partitions to others. Between `group.min.session.timeout.ms` and `group.max.session.timeout.ms` of the brokers.",
    default: "6000",
  }),
  kafkaRequestMs: wholeNumber(1_000, 20_000, {
    subject,
    summary:
      "How many milliseconds a broker has for an answer before the request fails and the connection is made anew. Above the longest pause of a healthy broker; at most the 20 seconds that connecting may take. A heartbeat is of no use after `POSTHASTE_KAFKA_SESSION_MS`, and a publish waits 10 seconds for its facts at the longest.",
    default: "10000",
  }),
  kafkaProvision: onOff({
    subject,
    summary:
      "Whether missing topics are made, and topics with too few partitions get more. `off`: an administrator makes them ([kafka.md](kafka.md)); a process compares them with its needs, logs what is wrong, and waits.",
    default: "on",
  }),
  kafkaRetentionHours: wholeNumber(1, 8_760, {
    subject,
    summary: "For how many hours a topic keeps its events, set when it is made.",
    default: "168",
  }),
  ...kafkaSecurityShape,
};

/** For a process that opens connections of its own to MongoDB, without the pools of a service. */
export const databaseShape = {
  mongodbUri: address("mongodb", "mongodb+srv").register(variables, {
    subject,
    secret: true,
    rule: "a mongodb:// or mongodb+srv:// address",
    summary: "MongoDB, a replica set, which holds every message.",
  }),
  mongodbDatabase: z
    .string()
    .regex(/^[0-9A-Za-z_-]{1,38}$/)
    .register(variables, {
      subject,
      rule: "1 to 38 letters, digits, _ and -",
      summary: "The database in MongoDB.",
      default: "posthaste",
    }),
  mongodbTlsCa: tlsCa("MongoDB"),
  mongodbTlsCertificate: tlsCertificate("MongoDB"),
  mongodbTlsKey: tlsKey("MongoDB"),
};

export const documentsShape = {
  ...databaseShape,
  mongodbPool: wholeNumber(1, 1_000, {
    subject,
    summary:
      "Connections of this process for inserts, claims, settles and single reads. A call waits for a connection for `POSTHASTE_MONGODB_PATIENCE_MS`, and is then refused as overloaded.",
    default: "20",
  }),
  mongodbHeavyPool: wholeNumber(listsOfTenantMax, 1_000, {
    subject,
    summary: `Further connections for lists, counts and walks; each tenant may use ${listsOfTenantMax} at once.`,
    default: "8",
  }),
  mongodbPatienceMs: wholeNumber(2_100, 60_000, {
    subject,
    summary:
      "How many milliseconds a call is repeated while no primary answers, or waits for a connection. Also the bound of connecting, of finding a primary and of a write concern; a connection may be silent for four times as long. During an outage of MongoDB callers get an answer after this time.",
    default: "2500",
  }),
  mongodbHeavyMs: wholeNumber(100, 59_900, {
    subject,
    summary: `How many milliseconds MongoDB works on one list, count or step of a walk (\`maxTimeMS\`); a longer one reads fewer rows, or is refused. At least ${heavyBelowPatienceMs} below \`POSTHASTE_MONGODB_PATIENCE_MS\`, since a caller would not wait longer.`,
    default: "2000",
  }),
};

export const sealingShape = {
  sealingKeys: z
    .string()
    .transform((text) => text.split(",").map((key) => Buffer.from(key.trim(), "base64")))
    .refine(
      (keys) =>
        keys.length <= sealingKeysMax && keys.every(({ length }) => length === sealingKeyBytes),
    )
    .transform((keys): readonly Uint8Array[] => keys)
    .register(variables, {
      subject: "Credentials",
      secret: true,
      rule: `the base64 of ${sealingKeyBytes} bytes, or several separated by commas`,
      summary:
        "Keys that seal secrets at rest: the first seals, all open. To change the key, put a new one in front, and drop the old one later.",
    }),
};

const hostAndPort = /^(?:[0-9A-Za-z._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):(\d{1,5})$/;
const portMax = 65_535;

function isHostAndPort(text: string): boolean {
  const port = Number(hostAndPort.exec(text)?.[1] ?? 0);
  return port > 0 && port <= portMax;
}

export const storeRules: readonly Rule[] = [
  ...kafkaSecurityRules,
  ...redisRules,
  {
    keys: ["mongodbHeavyMs", "mongodbPatienceMs"],
    problemsOf: ({ mongodbHeavyMs, mongodbPatienceMs }) =>
      Number(mongodbHeavyMs) + heavyBelowPatienceMs > Number(mongodbPatienceMs)
        ? [
            `POSTHASTE_MONGODB_HEAVY_MS must be at least ${heavyBelowPatienceMs} below POSTHASTE_MONGODB_PATIENCE_MS`,
          ]
        : [],
  },
  ...tlsRules("MongoDB", "mongodbUri", (uri) => {
    const [off] = /[?&](?:tls|ssl)=false(?=&|$)/i.exec(String(uri)) ?? [];
    return off && `POSTHASTE_MONGODB_URI says ${off.slice(1)}`;
  }),
];
