import { copyFileSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cached } from "../cache.ts";
import { kafkaRecipe } from "../folders.ts";
import { needTools } from "../process/run.ts";
import { fetchJars, fingerprint } from "./maven.ts";

export type KafkaJars = { readonly name: string; readonly classPath: string };

const version = "4.1.2";
const files = ["pom.xml", "jars.sha256", "simplelogger.properties"];

export async function fetchKafka(): Promise<KafkaJars> {
  needTools("java");
  const print = fingerprint(...files.map((file) => join(kafkaRecipe, file)));
  const folder = await cached(`kafka-${version}-${print}`, async (making) => {
    await fetchJars(kafkaRecipe, join(making, "jars"));
    mkdirSync(join(making, "logging"));
    const settings = "simplelogger.properties";
    copyFileSync(join(kafkaRecipe, settings), join(making, "logging", settings));
  });
  const classPath = [join(folder, "logging"), join(folder, "jars/*")].join(delimiter);
  return { name: `Kafka ${version}`, classPath };
}
