/** All scenarios in the order of the report. The budgets sum to more than a run may take, but few are used up. */
import { apart } from "./apart.ts";
import { apartMessages } from "./apart-messages.ts";
import { batch } from "./batch.ts";
import { bulk } from "./bulk.ts";
import { burst } from "./burst.ts";
import { crowds } from "./crowds.ts";
import { documentWrites } from "./document-writes.ts";
import { growth } from "./growth.ts";
import { hanging } from "./hanging.ts";
import { instrument } from "./instrument.ts";
import { latency } from "./latency.ts";
import { lists } from "./lists.ts";
import { manyQueues, tenThousandQueues } from "./many-queues.ts";
import { memory } from "./memory.ts";
import { queues } from "./queues.ts";
import { type Scenario } from "./scenario.ts";
import { schedules } from "./schedules.ts";
import { steps } from "./steps.ts";
import { throughput } from "./throughput.ts";
import { timers } from "./timers.ts";

export const scenarios: readonly Scenario[] = [
  instrument,
  throughput,
  latency,
  timers,
  growth,
  burst,
  hanging,
  memory,
  lists,
  batch,
  queues,
  manyQueues,
  tenThousandQueues,
  crowds,
  bulk,
  schedules,
  steps,
  apart,
  documentWrites,
  apartMessages,
];
