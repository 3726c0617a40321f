import { describe, expect, it } from "@jest/globals";
import { isFault, type PublishCommand, runMessageId, type StepKey } from "@posthaste/domain";
import { endRun, publish } from "@posthaste/engine";
import { type RunStore } from "@posthaste/ports";
import { aRunId, aStartCommand, aStepCommand, aTenant } from "@posthaste/testing";
import { type Deliverer } from "../deliverer.ts";
import { ok, open, type Ports, rest, startDeliverer } from "../opened.fixture.ts";

const result = (step: number): StepKey => ({ role: "result", step });

function counted() {
  const opened = open();
  const asked: unknown[] = [];
  const brief: RunStore["brief"] = (deliveries) => {
    asked.push(...deliveries);
    return opened.runs.brief(deliveries);
  };
  return { asked, ports: { ...opened, runs: { ...opened.runs, brief } } };
}

async function publishBeside(
  ports: Ports,
  { local }: Deliverer,
  command: PublishCommand,
): Promise<void> {
  const published = await publish({ ...ports, local }, command);
  if (isFault(published)) throw new Error(published.text);
  await rest(ports);
}

const carried = ({ calls }: Ports): readonly (readonly string[])[] =>
  calls.map(({ body }) =>
    (JSON.parse(body) as readonly { readonly messageId: string }[]).map(
      ({ messageId }) => messageId,
    ),
  );

async function rootOf({ runs }: Ports) {
  const run = await runs.get({ tenant: aTenant, id: aRunId });
  if (!run) throw new Error("there is no run");
  return run.root;
}

describe("a delivery of a run", () => {
  it("that begins with the change that made it carries its history without a read", async () => {
    const { asked, ports } = counted();
    const deliverer = await startDeliverer(ports);

    await publishBeside(ports, deliverer, aStartCommand());
    await publishBeside(ports, deliverer, aStepCommand(result(1)));
    await publishBeside(ports, deliverer, aStepCommand(result(2)));

    const root = await rootOf(ports);
    const [first, second] = ["s1", "s2"].map((part) => runMessageId(root, part));
    expect(carried(ports)).toEqual([[root], [root, first], [root, first, second]]);
    expect(asked).toEqual([]);
  });

  it("that waits for a slot asks whether its run still wants it, and is not called when the run has ended", async () => {
    const { asked, ports } = counted();
    const deliverer = await startDeliverer(ports, { perOriginMax: 1 });
    await publishBeside(ports, deliverer, aStartCommand());
    await publishBeside(ports, deliverer, aStepCommand(result(1)));
    await endRun(ports, { tenant: aTenant, id: aRunId });

    ports.calls[0]?.answer(ok);
    await rest(ports);

    expect(asked).toHaveLength(1);
    expect(ports.calls).toHaveLength(1);
  });

  it("reads the earlier entries that another deliverer has delivered", async () => {
    const { asked, ports } = counted();
    await publishBeside(ports, await startDeliverer(ports), aStartCommand());

    await publishBeside(ports, await startDeliverer(ports), aStepCommand(result(1)));

    const root = await rootOf(ports);
    expect(carried(ports)).toEqual([[root], [root, runMessageId(root, "s1")]]);
    expect(asked).toHaveLength(1);
  });
});
