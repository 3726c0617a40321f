/** Jest's global teardown of the gate `apart`. */
import { rmSync } from "node:fs";
import { testStores } from "@posthaste/testing";
import { checkDocumentsNameTenants } from "./documents-name-tenants.ts";
import { sharedServices } from "./shared-services.ts";
import { started } from "./start-services.ts";

export default async function stop(): Promise<void> {
  const { services, folder } = started;
  await services?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true });
  const { mongodb } = testStores();
  const room = sharedServices()?.room;
  if (mongodb !== undefined && room !== undefined)
    await checkDocumentsNameTenants(mongodb.uri, room);
}
