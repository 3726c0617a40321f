/** Jest's global teardown of the gate `apart`. */
import { started } from "./start-services.ts";

export default async function stop(): Promise<void> {
  await started.services?.stop();
}
