import { type Scenario } from "../stage.ts";

const heldAtOnce = 20;
const delayedMeanwhile = 12;

/**
 * Longer than any lease, and than the session of a member of a Kafka group: the shards of the stopped scheduler go to the second one, and
 * for a moment after its return both believe that they own them.
 */
export const standstill: Scenario = {
  name: "standstill",
  promise:
    "one of two deliverers, one of two schedulers and all who answer back and remember stopped (SIGSTOP) past their leases, then going on (SIGCONT)",
  run: async (stage) => {
    const { services } = stage.cluster;
    const stopped = [
      ...services.of("deliverer").slice(0, 1),
      ...services.of("scheduler").slice(0, 1),
      ...services.of("callback-dispatcher"),
      ...services.of("workflow-log"),
    ];
    const held = await stage.heldAtGate(heldAtOnce);
    const what = `${stopped.map(({ name }) => name).join(", ")} stood still`;
    await stage.during(
      { what, leaves: ["repeat", "overlap"] },
      {
        begin: () => {
          for (const { process } of stopped) process.pause();
          stage.destination.openGate();
        },
        meanwhile: async () => {
          // Half of them have their alarm in a shard of the stopped scheduler.
          await stage.arrived(await stage.load.burst("delayed", delayedMeanwhile));
          // A call of the stopped deliverer is made again, since its lease is over.
          await stage.arrived(held, held.length + 1);
        },
        heal: () => {
          for (const { process } of stopped) process.resume();
        },
      },
    );
    await stage.arrived(await stage.load.burst("delayed", delayedMeanwhile));
  },
};
