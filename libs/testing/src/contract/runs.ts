/**
 * The contract of `RunStore`: a change of a run is one write, decided on the head as the change before left it; a
 * delivery carries the history up to its own entry, without later entries.
 */
import { contract } from "./guarantee.ts";
import { changing } from "./runs/changing.ts";
import { briefing, keepingRecords, reading } from "./runs/delivering.ts";
import { formats } from "./runs/formats.ts";
import { type RunsHarness } from "./runs/harness.ts";
import { addressing, starting } from "./runs/starting.ts";
import { resuming } from "./runs/resuming.ts";
import { sweeping } from "./runs/sweeping.ts";
import { waiting } from "./runs/waiting.ts";

export function describeRuns(name: string, open: () => Promise<RunsHarness>): void {
  contract(`${name}: runs`, open, {}, (it) => {
    starting(it);
    addressing(it);
    changing(it);
    reading(it);
    briefing(it);
    keepingRecords(it);
    waiting(it);
    resuming(it);
    sweeping(it);
    formats(it);
  });
}
