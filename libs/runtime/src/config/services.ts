/** The configuration of each service: which variables it reads. */
import { z } from "zod";
import { credentialsShape } from "./credentials.ts";
import { deliveriesShape, destinationsShape } from "./deliveries.ts";
import { listenShape, managementListenShape, proxiesShape } from "./listen.ts";
import { managementShape } from "./management.ts";
import { processShape, standaloneProcessShape } from "./process.ts";
import { standaloneShape } from "./standalone.ts";

const worker = { ...processShape, ...listenShape };

export const configSchemas = {
  gateway: z.object({ ...worker, ...proxiesShape, ...destinationsShape }),
  scheduler: z.object(worker),
  deliverer: z.object({ ...worker, ...deliveriesShape }),
  "callback-dispatcher": z.object({ ...worker, ...destinationsShape }),
  "workflow-log": z.object(worker),
  management: z.object({
    ...processShape,
    ...managementListenShape,
    ...proxiesShape,
    ...credentialsShape,
    ...managementShape,
  }),
  standalone: z.object({
    ...standaloneProcessShape,
    ...listenShape,
    ...proxiesShape,
    ...credentialsShape,
    ...managementShape,
    ...deliveriesShape,
    ...standaloneShape,
  }),
};

export type ServiceName = keyof typeof configSchemas;
export type ConfigOf<Name extends ServiceName> = Readonly<z.output<(typeof configSchemas)[Name]>>;
