/** Jest's global teardown of the gate `end-to-end`. */
import { rmSync } from "node:fs";
import { started } from "./start-standalones.ts";

export default async function stop(): Promise<void> {
  const { standalones = [], folder } = started;
  await Promise.all(standalones.map((standalone) => standalone.stop()));
  if (folder !== undefined) rmSync(folder, { recursive: true });
}
