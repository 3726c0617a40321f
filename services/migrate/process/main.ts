/** The process of `posthaste migrate [--check]`: exit code 0 when nothing is missing. */
import { configSchemas, createLog, readConfig, systemClock } from "@posthaste/process";
import { migrate } from "./migrate.ts";

const { logLevel, profile } = readConfig(configSchemas.migrate);
const log = createLog({
  service: "migrate",
  level: logLevel,
  format: profile === "dev" ? "human" : "json",
  clock: systemClock(),
});

process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  const unknown = words.find((word) => word !== "--check");
  if (unknown !== undefined) {
    log.error("migrate.failed", { why: `${unknown} is not an option: --check is the only one` });
    return 2;
  }
  try {
    const isCheck = words.includes("--check");
    const missing = await migrate({
      env: process.env,
      isCheck,
      tell: (doing) => log.info("migrate.progress", { task: doing }),
    });
    for (const what of missing) log.warn("migrate.missing", { missing: what });
    if (missing.length > 0) return 1;
    log.info("migrate.done");
    return 0;
  } catch (error) {
    log.error("migrate.failed", { why: Error.isError(error) ? error.message : String(error) });
    return 1;
  }
}
