/** The bus as configured. */
import { type KafkaBus, openKafkaBus } from "@posthaste/bus-kafka";
import { type ConfigOf, type ProcessParts } from "@posthaste/process";
import { traceOf } from "./trace.ts";

type BusConfig = Pick<
  ConfigOf<"scheduler">,
  | "kafkaBrokers"
  | "kafkaMechanism"
  | "kafkaPartitions"
  | "kafkaPassword"
  | "kafkaPrefix"
  | "kafkaReplication"
  | "kafkaRetentionHours"
  | "kafkaTls"
  | "kafkaUser"
>;

const msPerHour = 3_600_000;

export async function openBus(parts: ProcessParts, config: BusConfig): Promise<KafkaBus> {
  const { clock, fatal, log, name, readiness, telemetry } = parts;
  const { kafkaMechanism: mechanism, kafkaPassword: password, kafkaUser: user } = config;
  const bus = await openKafkaBus({
    brokers: config.kafkaBrokers,
    prefix: config.kafkaPrefix,
    clientId: name,
    partitions: config.kafkaPartitions,
    replication: config.kafkaReplication,
    retentionMs: config.kafkaRetentionHours * msPerHour,
    tls: config.kafkaTls,
    ...(user !== undefined && password !== undefined && { sasl: { mechanism, user, password } }),
    clock,
    log,
    fatal,
    ...(telemetry.tracer.isOn && { trace: traceOf(telemetry.tracer) }),
  });
  // Publishes are answered and due messages delivered without it: slower, and not wrong.
  readiness.watch("kafka", "helpful", () => (bus.isUp() ? undefined : "the brokers do not answer"));
  telemetry.metrics.watch("posthaste_bus_total", () => {
    const { connections: _, ...counts } = bus.counts();
    return counts;
  });
  return bus;
}
