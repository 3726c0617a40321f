/** Parses a publish. A long body, which may be a step's, is parsed in turns with other requests. */
import { bytesPerTurn, parsePublish, type PublishInput, readPublish } from "@posthaste/contract";
import { type Fault, type PublishCommand } from "@posthaste/domain";
import { toItsEnd } from "@posthaste/http";

export const parsed = (
  given: PublishInput,
): PublishCommand | Fault | Promise<PublishCommand | Fault> =>
  given.body.length > bytesPerTurn ? toItsEnd(readPublish(given)) : parsePublish(given);
