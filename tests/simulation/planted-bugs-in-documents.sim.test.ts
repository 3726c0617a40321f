import { documentMutations } from "./documents/mutations.ts";
import { describePlantedBugs } from "./planted-bugs.ts";

describePlantedBugs(documentMutations);
