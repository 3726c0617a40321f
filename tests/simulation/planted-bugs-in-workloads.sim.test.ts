import { clockMutations } from "./clock-mutations.ts";
import { letterMutations } from "./letter-mutations.ts";
import { namingMutations } from "./naming-mutations.ts";
import { describePlantedBugs } from "./planted-bugs.ts";
import { scheduleMutations } from "./schedule-mutations.ts";

/** Many of these show only in a workload of their own. */
describePlantedBugs([
  ...namingMutations,
  ...scheduleMutations,
  ...letterMutations,
  ...clockMutations,
]);
