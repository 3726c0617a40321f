/** The bus of the simulation keeps the contract that the adapters keep. */
import { type EventBus } from "@posthaste/ports";
import { describeEventBus } from "@posthaste/testing/contract";
import { simulatedBus } from "./bus.ts";
import { calm, type Troubles } from "./chaos.ts";
import { History } from "./history.ts";
import { type Environment, SimulatedNode } from "./node.ts";
import { World } from "./world.ts";

async function open(troubles: Troubles) {
  const world = new World(1);
  const environment: Environment = { world, history: new History(), troubles: () => troubles };
  const bus = simulatedBus(environment, { local: false });
  const processOf = (name: string): EventBus => {
    const idle = { start: async () => undefined, stop: async () => undefined };
    const node = new SimulatedNode(environment, name, () => idle);
    node.start();
    if (!node.life) throw new Error("it does not live");
    const port = bus.portOf(node.life, (each) => each);
    return { ...port, publish: (topic, events) => world.during(port.publish(topic, events)) };
  };
  return {
    bus: processOf("one"),
    other: processOf("other"),
    advance: (ms: number) => world.advance(ms),
    close: async () => undefined,
  };
}

describeEventBus("simulated, calm", () => open(calm));
describeEventBus("simulated, with hints that are lost, late or twice", () =>
  open({ ...calm, lostHint: 0.3, delayedHint: 0.3, duplicateHint: 0.3 }),
);
