import { messageMutations } from "./mutations.ts";
import { describePlantedBugs } from "./planted-bugs.ts";
import { queueMutations } from "./queue-mutations.ts";

describePlantedBugs([...messageMutations, ...queueMutations]);
