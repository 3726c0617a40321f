import {
  type Expanding,
  type FanOut,
  type FanOutTarget,
  fanOutOf,
  type PublishCommand,
} from "@posthaste/domain";
import { epochStart } from "../virtual-clock.ts";
import { aCommand } from "./command.ts";
import { newId } from "./message.ts";

export type FanOutOverrides = Partial<FanOutTarget> &
  Partial<Pick<FanOut, "id" | "format">> & {
    readonly now?: number;
    readonly command?: Partial<PublishCommand>;
  };

/** Returns a fan-out to 1,000 endpoints, as it is first written. */
export function aFanOut(overrides: FanOutOverrides = {}): Expanding {
  const { id = newId(), now = epochStart, command, format, ...given } = overrides;
  const target = { group: "group", chunks: [], endpointCount: 1_000, skipped: [], ...given };
  const fanOut = fanOutOf(aCommand(command), target, id, now);
  return { ...fanOut, ...(format !== undefined && { format }) };
}
