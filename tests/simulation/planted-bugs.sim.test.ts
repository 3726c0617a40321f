import { messageMutations } from "./mutations.ts";
import { describePlantedBugs } from "./planted-bugs.ts";

describePlantedBugs(messageMutations);
