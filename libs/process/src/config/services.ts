/** The configuration of each service: which variables it reads. */
import { z } from "zod";
import { auditShape } from "./audit.ts";
import { consoleShape } from "./console.ts";
import { credentialsShape } from "./credentials.ts";
import { deliveriesShape, destinationsShape } from "./deliveries.ts";
import { listenShape, managementListenShape, originsShape, proxiesShape } from "./listen.ts";
import { managementProcessShape, managementShape } from "./management.ts";
import { llmKeyShape, llmShape } from "./llm.ts";
import { oidcOperatorsShape, oidcShape, oidcTenantsShape } from "./oidc.ts";
import { processShape, reportingShape, standaloneProcessShape } from "./process.ts";
import { tokensShape } from "./redis.ts";
import { retentionShape } from "./retention.ts";
import { schedulesShape } from "./schedules.ts";
import { standaloneShape } from "./standalone.ts";
import { telemetryShape } from "./telemetry.ts";
import {
  busShape,
  databaseShape,
  documentsShape,
  namedDeliveryShape,
  sealingShape,
} from "./stores.ts";

/** Read by every process of the distributed shape; all but management are on the bus. */
const apart = { ...processShape, ...telemetryShape, ...documentsShape, ...sealingShape };
const worker = { ...apart, ...listenShape, ...busShape };

export const configSchemas = {
  migrate: z.object({ ...reportingShape, ...databaseShape }),
  gateway: z.object({
    ...worker,
    ...tokensShape,
    ...namedDeliveryShape,
    ...proxiesShape,
    ...originsShape,
    ...destinationsShape,
    ...llmShape,
    ...consoleShape,
    ...auditShape,
    ...oidcTenantsShape,
    ...oidcShape,
  }),
  scheduler: z.object({ ...worker, ...tokensShape, ...schedulesShape }),
  // The deliverer fires schedules while the bus is away.
  deliverer: z.object({
    ...worker,
    ...tokensShape,
    ...deliveriesShape,
    ...schedulesShape,
    ...llmKeyShape,
  }),
  "callback-dispatcher": z.object(worker),
  "workflow-log": z.object({ ...worker, ...retentionShape }),
  management: z.object({
    ...apart,
    ...managementListenShape,
    ...proxiesShape,
    ...credentialsShape,
    ...managementProcessShape,
    ...consoleShape,
    ...auditShape,
    ...oidcOperatorsShape,
    ...oidcShape,
  }),
  standalone: z.object({
    ...standaloneProcessShape,
    ...listenShape,
    ...proxiesShape,
    ...originsShape,
    ...credentialsShape,
    ...managementShape,
    ...deliveriesShape,
    ...schedulesShape,
    ...retentionShape,
    ...llmShape,
    ...consoleShape,
    ...auditShape,
    ...oidcTenantsShape,
    ...oidcOperatorsShape,
    ...oidcShape,
    ...llmKeyShape,
    ...standaloneShape,
    ...telemetryShape,
  }),
};

export type ServiceName = keyof typeof configSchemas;
/** The variables of a service whose keys begin with `Prefix`. */
export type SettingsOf<Name extends ServiceName, Prefix extends string> = Pick<
  ConfigOf<Name>,
  Extract<keyof ConfigOf<Name>, `${Prefix}${string}`>
>;

export type ConfigOf<Name extends ServiceName> = Readonly<z.output<(typeof configSchemas)[Name]>>;
