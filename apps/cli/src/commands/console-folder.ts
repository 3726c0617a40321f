import { existsSync } from "node:fs";
import { join } from "node:path";

/** The console's folder in the published package, and in the repository. */
const folders = ["console", "../../../console/dist"].map((folder) =>
  join(import.meta.dirname, folder),
);

/** Returns the folder of the built console, or `off` where there is none. */
export const consoleFolder = (): string => folders.find((folder) => existsSync(folder)) ?? "off";
