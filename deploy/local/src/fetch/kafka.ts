import { readdirSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { cached } from "../cache.ts";
import { kafkaRecipe } from "../folders.ts";
import { needTools } from "../process/run.ts";
import { fetchJars, fingerprint } from "./maven.ts";

export type KafkaJars = {
  readonly name: string;
  readonly classPath: string;
  /** Names what was fetched. */
  readonly key: string;
};

const version = "4.1.2";
const files = ["pom.xml", "jars.sha256"];

export async function fetchKafka(): Promise<KafkaJars> {
  needTools("java");
  const print = fingerprint(...files.map((file) => join(kafkaRecipe, file)));
  const folder = await cached(`kafka-${version}-${print}`, async (making) => {
    await fetchJars(kafkaRecipe, join(making, "jars"));
  });
  const jars = readdirSync(join(folder, "jars")).toSorted();
  const classPath = jars.map((jar) => join(folder, "jars", jar)).join(delimiter);
  return { name: `Kafka ${version}`, classPath, key: basename(folder) };
}
