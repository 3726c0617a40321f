/** Ringing: one round over the due alarms of some shards, and what each calls for (architecture.md §3). */
import { type LaneId } from "@posthaste/domain";
import { type Log } from "@posthaste/ports";
import { expandParent, type ExpandPorts } from "./fan-out.ts";
import { followUp, type FollowUpPorts } from "./follow-up.ts";
import { type GrantPorts } from "./grant.ts";

export type RingPorts = FollowUpPorts & GrantPorts & ExpandPorts & { readonly log: Log };

/** Work that may take long and may be asked for twice: one at a time per lane and per parent, elsewhere than in the scan. */
export type Background = {
  grant(lane: LaneId): void;
  run(name: string, task: () => Promise<void>): void;
};

/** Answers how many alarms rang: a full batch means that more may be due. */
export async function ringOnce(
  ports: RingPorts,
  background: Background,
  shards: readonly number[],
  limit: number,
): Promise<number> {
  const { hints, lanes, expanding, followUps } = await ports.messages.ring(shards, limit);
  if (hints.length > 0) await ports.bus.publish("message.due", hints);
  for (const lane of lanes) background.grant(lane);
  for (const parent of expanding)
    background.run(`expand ${parent.message.id}`, () => expandParent(ports, parent));
  if (followUps.length > 0) {
    const outboxes = followUps.map(({ message, outbox }) => ({ message, items: outbox }));
    background.run("follow up", () => followUp(ports, outboxes));
  }
  return hints.length + lanes.length + expanding.length + followUps.length;
}
