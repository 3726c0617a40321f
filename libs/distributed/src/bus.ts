/** Opens the bus as configured. */
import { type KafkaBus, openKafkaBus, type Sasl } from "@posthaste/bus-kafka";
import { type ProcessParts, type SettingsOf, systemClock } from "@posthaste/process";
import { tlsFailure } from "./tls-failures.ts";
import { traceOf } from "./trace.ts";

type BusConfig = SettingsOf<"scheduler", "kafka">;

const msPerHour = 3_600_000;

export async function openBus(parts: ProcessParts, config: BusConfig): Promise<KafkaBus> {
  const { clock, fatal, log, name, readiness, telemetry } = parts;
  const { kafkaTlsCa: ca, kafkaTlsCertificate: certificate, kafkaTlsKey: key } = config;
  const sasl = saslOf(config);
  const bus = await openKafkaBus({
    brokers: config.kafkaBrokers,
    prefix: config.kafkaPrefix,
    clientId: name,
    partitions: config.kafkaPartitions,
    replication: config.kafkaReplication,
    makesTopics: config.kafkaProvision,
    sessionMs: config.kafkaSessionMs,
    requestMs: config.kafkaRequestMs,
    retentionMs: config.kafkaRetentionHours * msPerHour,
    ...(config.kafkaTls && { tls: { ca, certificate, key } }),
    ...(sasl && { sasl }),
    explain: (error) => tlsFailure("Kafka", ca !== undefined, error),
    clock,
    log,
    fatal,
    ...(telemetry.tracer.isOn && { trace: traceOf(telemetry.tracer) }),
  });
  // Helpful: without the bus publishes are answered and due messages are delivered, only later.
  readiness.watch("kafka", "helpful", () => bus.problem());
  telemetry.metrics.watch("posthaste_bus_total", () => {
    const { connections: _, ...counts } = bus.counts();
    return counts;
  });
  return bus;
}

/** The rules of the configuration guarantee the fields that a mechanism needs. */
function saslOf(config: BusConfig): Sasl | undefined {
  const { kafkaMechanism: mechanism } = config;
  switch (mechanism) {
    case "plain":
    case "scram-sha-256":
    case "scram-sha-512": {
      const { kafkaUser: user, kafkaPassword: password } = config;
      return user !== undefined && password !== undefined
        ? { mechanism, user, password }
        : undefined;
    }
    case "oauthbearer": {
      const { kafkaOauthTokenUrl: tokenUrl = "", kafkaOauthClientId: clientId = "" } = config;
      const { kafkaOauthClientSecret: clientSecret = "", kafkaOauthScope: scope } = config;
      return { mechanism, tokenUrl, clientId, clientSecret, scope };
    }
    case "aws-msk-iam":
      return { mechanism, env: process.env, hostNow: () => systemClock().now() };
  }
}
