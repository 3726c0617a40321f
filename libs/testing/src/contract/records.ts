/** The contract of `RecordPorts`: the properties that the engine relies on, whichever store keeps the records. */
import { contract } from "./guarantee.ts";
import { accepting } from "./records/accepting.ts";
import { canceling } from "./records/canceling.ts";
import { claiming } from "./records/claiming.ts";
import { formats } from "./records/formats.ts";
import { type RecordsHarness } from "./records/harness.ts";
import { keeping } from "./records/keeping.ts";
import { lanes } from "./records/lanes.ts";
import { matching } from "./records/matching.ts";
import { lanesByHand } from "./records/lanes-by-hand.ts";
import { outbox } from "./records/outbox.ts";
import { pulling } from "./records/pulling.ts";
import { releasing } from "./records/releasing.ts";
import { removing } from "./records/removing.ts";
import { ringing } from "./records/ringing.ts";
import { settling } from "./records/settling.ts";

const subjects = {
  accepting,
  claiming,
  settling,
  outbox,
  ringing,
  pulling,
  canceling,
  matching,
  lanes,
  lanesByHand,
  releasing,
  removing,
  keeping,
  formats,
};
type Subject = keyof typeof subjects;

/** `open` makes an empty store. `advance` moves the store's clock. */
export function describeRecords(
  name: string,
  open: () => Promise<RecordsHarness>,
  only = Object.keys(subjects) as readonly Subject[],
): void {
  contract(`${name}: a message store`, open, {}, (it) => {
    for (const subject of only) subjects[subject](it);
  });
}
