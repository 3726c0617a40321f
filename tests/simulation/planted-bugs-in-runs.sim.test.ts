import { describePlantedBugs } from "./planted-bugs.ts";
import { runMutations } from "./runs/mutations.ts";

describePlantedBugs(runMutations);
