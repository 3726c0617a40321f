/** Tests the services as a fault test uses them: several of one kind, killed and restarted. */
import { expect, it, jest } from "@jest/globals";
import { testStores } from "@posthaste/testing";
import { type ProcessState } from "./process/server-process.ts";
import { startServices } from "./services.ts";

jest.setTimeout(600_000);

const isReady = async (url: string) => (await fetch(`${url}/readyz`)).status === 200;

it("one of several services is killed and returns on its port while the others continue", async () => {
  const states: string[] = [];
  const onState = ({ name }: { name: string }, { kind }: ProcessState) =>
    states.push(`${name} ${kind}`);
  const services = await startServices({
    stores: testStores(),
    room: "several",
    counts: { deliverer: 2, scheduler: 0, "callback-dispatcher": 0, "workflow-log": 0 },
    onState,
  });
  try {
    const [first, second] = services.of("deliverer");
    if (first === undefined || second === undefined) throw new Error("there are two of them");
    expect(services.all).toHaveLength(4);
    expect(first.port).not.toBe(second.port);

    await first.process.kill();
    expect(await isReady(second.url)).toBe(true);
    await first.process.restart();

    expect(await isReady(first.url)).toBe(true);
    expect(states.filter((line) => line.startsWith("deliverer 1"))).toEqual([
      "deliverer 1 starting",
      "deliverer 1 ready",
      "deliverer 1 ended",
      "deliverer 1 starting",
      "deliverer 1 ready",
    ]);
  } finally {
    await services.stop();
  }
  expect(services.all.filter(({ process }) => process.isRunning)).toEqual([]);
});
