/** Prepares MongoDB for this version, or reports what is missing (ADR 181). Configured as the six services are. */
import { migrationFailure, openMigration } from "@posthaste/distributed";
import { configSchemas, type Environment, loadConfig } from "@posthaste/process";

export type MigrateOptions = {
  readonly env: Environment;
  /** Changes nothing. */
  readonly isCheck: boolean;
  /** Called every few seconds with the work under way. */
  readonly tell: (doing: string) => void;
};

/** Returns what is missing. Rejects with one line when it cannot be made. A signal to end lets another process continue at once. */
export async function migrate({ env, isCheck, tell }: MigrateOptions): Promise<readonly string[]> {
  const loaded = loadConfig(configSchemas.migrate, { env });
  if (loaded.kind === "refused") throw new Error(loaded.message.replaceAll(/\n\s*(?:- )?/g, " "));
  const { config } = loaded;
  const migration = openMigration(config, tell);
  const end = (): void => void migration.close();
  process.once("SIGTERM", end).once("SIGINT", end);
  try {
    if (isCheck) return await migration.missing();
    await migration.run();
    return [];
  } catch (cause) {
    throw new Error(migrationFailure(config, cause), { cause });
  } finally {
    await migration.close();
    process.off("SIGTERM", end).off("SIGINT", end);
  }
}
