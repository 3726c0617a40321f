/** mongo-java-server, from its Maven artifacts and a main of our own. */
import { copyFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cached } from "../cache.ts";
import { mongoJavaRecipe } from "../folders.ts";
import { needTools, run } from "../process/run.ts";
import { fetchJars, fingerprint } from "./maven.ts";

export type MongoJavaJars = { readonly name: string; readonly classPath: string };

const version = "1.47.0";
const settings = "simplelogger.properties";
const files = ["pom.xml", "jars.sha256", "Main.java", settings];

export async function fetchMongoJava(): Promise<MongoJavaJars> {
  const print = fingerprint(...files.map((file) => join(mongoJavaRecipe, file)));
  const folder = await cached(`mongo-java-server-${version}-${print}`, async (making) => {
    needTools("javac");
    const jars = join(making, "jars");
    await fetchJars(mongoJavaRecipe, jars);
    const classes = join(making, "classes");
    const main = join(mongoJavaRecipe, "Main.java");
    await run("javac", ["-cp", join(jars, "*"), "-d", classes, main]);
    copyFileSync(join(mongoJavaRecipe, settings), join(classes, settings));
  });
  const classPath = [join(folder, "classes"), join(folder, "jars/*")].join(delimiter);
  return { name: `mongo-java-server ${version}`, classPath };
}
