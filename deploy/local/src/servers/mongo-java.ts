/**
 * mongo-java-server with its H2 backend: speaks MongoDB's wire protocol, has no sessions and no index that makes a
 * query faster. It stands in for MongoDB where nothing better can be had.
 */
import { join } from "node:path";
import { fetchMongoJava } from "../fetch/mongo-java.ts";
import { freePort, loopback } from "../process/ports.ts";
import { ServerProcess } from "../process/server-process.ts";
import { type RunningMongo, type ServerPlace, dataFolder } from "./place.ts";

const jvm = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

export async function startMongoJava(place: ServerPlace): Promise<RunningMongo> {
  const { name, classPath } = await fetchMongoJava();
  const port = place.port ?? (await freePort());
  const file = join(dataFolder(place, "mongo-java"), "data.mv");
  const args = [...jvm, "-cp", classPath, "Main", String(port), file];
  const isReady = (output: string) => output.includes("listening");
  const server = new ServerProcess({ name, file: "java", args }, isReady, place);
  await server.start();
  return { name, host: loopback, port, process: server, uri: `mongodb://${loopback}:${port}/` };
}
