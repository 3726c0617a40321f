/** Variables with which processes of the production profile start. */
export const ownKeys = {
  POSTHASTE_SIGNING_KEY_CURRENT: `sig_${"a".repeat(28)}`,
  POSTHASTE_SIGNING_KEY_NEXT: `sig_${"b".repeat(28)}`,
};
export const production = {
  POSTHASTE_PROFILE: "production",
  POSTHASTE_TOKEN: "t".repeat(32),
  ...ownKeys,
};

/** The further variables that the distributed shape requires. */
export const onServersToo = {
  ...production,
  POSTHASTE_KAFKA_BROKERS: "kafka-0:9092, [::1]:9093",
  POSTHASTE_REDIS_URL: "redis://:secret@redis:6379/1",
  POSTHASTE_MONGODB_URI: "mongodb://user:secret@a:27017,b:27017/?replicaSet=rs0",
  POSTHASTE_SEALING_KEYS: Buffer.alloc(32, 1).toString("base64"),
  POSTHASTE_MANAGEMENT_USER: "admin",
  POSTHASTE_MANAGEMENT_PASSWORD: "p".repeat(16),
};
