/** Jest's global teardown of the gate `apart`. */
import { testStores } from "@posthaste/testing";
import { checkDocumentsNameTenants } from "./documents-name-tenants.ts";
import { sharedServices } from "./shared-services.ts";
import { started } from "./start-services.ts";

export default async function stop(): Promise<void> {
  await started.services?.stop();
  const { mongodb } = testStores();
  const room = sharedServices()?.room;
  if (mongodb !== undefined && room !== undefined)
    await checkDocumentsNameTenants(mongodb.uri, room);
}
