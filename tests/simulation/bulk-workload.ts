/**
 * Clients of bulk actions, in one of four seeds: some publishes of one tenant have a label, and once or twice everything with that label
 * is cancelled, by a gateway itself or by the schedulers. The client asks until the action has ended.
 */
import { type PublishCommand, type TenantId } from "@posthaste/domain";
import { aTenant, type Dice } from "@posthaste/testing";
import { type UntilDone } from "./clients.ts";
import { type BulkCancel } from "./world/history.ts";
import { type Environment } from "./world/node.ts";

export type BulkWorkload = {
  /** Returns the publish, perhaps with the label. */
  draw(command: PublishCommand): PublishCommand;
  start(spanMs: number, untilDone: UntilDone): void;
};

export const bulkTenant: TenantId = aTenant;
export const bulkLabel = "to-be-cancelled";

export function bulkWorkload(
  { world, history }: Environment,
  chance: Dice,
  always: boolean,
): BulkWorkload {
  const isOn = chance.chance(0.25) || always;

  const cancelAll = async (untilDone: UntilDone): Promise<void> => {
    const askedAt = world.now;
    const isAsync = chance.chance(0.5);
    const id = await untilDone((gateway) => gateway.cancelLabel(bulkTenant, bulkLabel, isAsync));
    const cancel: BulkCancel = { id, askedAt, acceptedAt: world.now, endedAt: undefined };
    history.bulkCancels.push(cancel);
    history.count("bulk");
    world.trace(`bulk action ${id} is accepted`);
    // Ends: each action completes once the troubles are over, or the seed fails.
    while (cancel.endedAt === undefined) {
      await world.wait(1_000);
      if (await untilDone((gateway) => gateway.hasEnded(bulkTenant, id)))
        cancel.endedAt = world.now;
    }
    world.trace(`bulk action ${id} has ended`);
  };

  return {
    draw: (command) =>
      isOn && command.tenant === bulkTenant && chance.chance(0.5)
        ? { ...command, policy: { ...command.policy, labels: [bulkLabel] } }
        : command,
    start: (spanMs, untilDone) => {
      if (!isOn) return;
      for (let nth = chance.integer(1, 2); nth > 0; nth--)
        world.after(chance.integer(spanMs / 4, spanMs), () => void cancelAll(untilDone));
    },
  };
}
