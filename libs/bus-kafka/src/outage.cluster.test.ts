/** The bus when its broker dies, hangs, or has not started yet. This file starts the broker. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { type RunningKafka, startKafka } from "@posthaste/local";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { aHint, aSettled, eventually, publishFacts } from "./events.fixture.ts";
import { type KafkaBus } from "./index.ts";
import { type OpenBuses, openBuses } from "./opened.fixture.ts";
import { testsOfOneOutage } from "./outage.fixture.ts";

const dir = temporaryFolder();
const startMsMax = 300_000;
const testMsMax = 300_000;
const saidBefore = 50;
let kafka: RunningKafka;
let buses: OpenBuses | undefined;

beforeAll(async () => {
  kafka = await startKafka({ dir });
}, startMsMax);
afterEach(async () => {
  if (!kafka.process.isRunning) await kafka.process.restart();
  kafka.process.resume();
  await buses?.close();
  buses = undefined;
}, startMsMax);
afterAll(async () => {
  await kafka.process.stop();
});

describe("a broker that is killed and returns", () => {
  testsOfOneOutage(
    () => kafka,
    {
      "every fact that was acknowledged is heard, also those said meanwhile": async ({
        buses,
        away,
        back,
      }) => {
        const [speaker, listener] = [await open(buses), await open(buses)];
        const heard = new Set<string>();
        await listener.subscribe("message.settled", "group", hearing(heard));
        const said = new Set<string>();
        const over = new AbortController();
        const speaking = speakUntil(over.signal, speaker, said);

        await eventually(() => heard.size >= saidBefore);
        await away();
        await eventually(() => !speaker.isUp());
        await back();
        await eventually(() => speaker.isUp());
        over.abort();
        await speaking;

        await eventually(() => [...said].every((id) => heard.has(id)));
        expect([...said].filter((id) => !heard.has(id))).toEqual([]);
      },

      "the bus says that it is down and that it hears nothing, and later the contrary, with a line for each change":
        async ({ buses, away, back }) => {
          const bus = await open(buses);
          const heard = new Set<string>();
          await bus.subscribe("message.due", "group", hearing(heard));
          await eventually(() => bus.isUp() && bus.hears("message.due"));

          await away();
          await eventually(() => !bus.isUp() && !bus.hears("message.due"));
          await back();
          await eventually(() => bus.isUp() && bus.hears("message.due"));

          const changes = buses.log.events().filter((event) => /^bus\.(up|down)$/.test(event));
          expect(changes).toContain("bus.down");
          expect(changes.at(-1)).toBe("bus.up");
          expect(changes.filter((change, i) => change === changes[i - 1])).toEqual([]);
        },

      "a hint said meanwhile is dropped while the broker is still away, and later ones are heard":
        async ({ buses, away, back }) => {
          const bus = await open(buses);
          const heard = new Set<string>();
          await bus.subscribe("message.due", "group", hearing(heard));
          await away();
          await eventually(() => !bus.isUp());

          await bus.publish("message.due", [aHint()]);
          expect(kafka.process.isRunning).toBe(false);

          await back();
          const later = aHint();
          await eventually(async () => {
            await bus.publish("message.due", [later]);
            return heard.has(later.id);
          });
          expect([...heard]).toEqual([later.id]);
        },

      "a fact is refused in the end when nobody takes it, and its caller may say it again": async ({
        buses,
        away,
        back,
      }) => {
        const bus = await open(buses);
        const heard = new Set<string>();
        await bus.subscribe("message.settled", "group", hearing(heard));
        await away();
        const fact = aSettled();

        await expect(bus.publish("message.settled", [fact])).rejects.toThrow("not acknowledged");

        await back();
        await publishFacts(bus, [fact]);
        await eventually(() => heard.has(fact.id));
        expect(heard).toContain(fact.id);
      },

      "who owned shards keeps them while it is away, and hears their wakes afterwards": async ({
        buses,
        away,
        back,
      }) => {
        const bus = await open(buses);
        const owned: (readonly number[])[] = [];
        const heard = new Set<number>();
        await bus.subscribe(
          "scheduler.wake",
          "group",
          async (events) => events.forEach(({ shard }) => heard.add(shard)),
          { owns: (shards) => owned.push(shards) },
        );

        await away();
        await eventually(() => !bus.hears("scheduler.wake"));
        await back();
        await eventually(async () => {
          await bus.publish("scheduler.wake", [{ shard: 7, at: 0, source: "record" }]);
          return heard.has(7);
        });

        expect(owned.map((shards) => shards.length)).toEqual([64]);
      },

      "a bus that opens and subscribes while it is away works when it comes": async ({
        buses,
        away,
        back,
      }) => {
        await away();
        const bus = await open(buses);
        const heard = new Set<string>();
        await bus.subscribe("message.settled", "group", hearing(heard));
        expect([bus.isUp(), bus.hears("message.settled"), kafka.process.isRunning]).toEqual([
          false,
          false,
          false,
        ]);

        await back();
        const fact = aSettled();
        await publishFacts(bus, [fact]);

        await eventually(() => heard.has(fact.id));
        expect(heard).toContain(fact.id);
      },

      "a bus closes while it is away": async ({ buses, away }) => {
        const bus = await open(buses);
        await bus.subscribe("message.settled", "group", async () => undefined);
        await away();

        await bus.close();

        expect(kafka.process.isRunning).toBe(false);
      },
    },
    testMsMax,
  );
});

it(
  "the bus notices a hanging broker, and facts published meanwhile are received when it continues",
  async () => {
    buses = openBuses(kafka.brokers);
    const bus = await open(buses);
    const heard = new Set<string>();
    await bus.subscribe("message.settled", "group", hearing(heard));
    const fact = aSettled();

    kafka.process.pause();
    const said = publishFacts(bus, [fact]);
    await eventually(() => !bus.isUp() && !bus.hears("message.settled"));
    kafka.process.resume();
    await said;

    await eventually(() => heard.has(fact.id) && bus.isUp() && bus.hears("message.settled"));
    expect(heard).toContain(fact.id);
  },
  testMsMax,
);

/** Opens a bus with a short session, so that the successor of a member that was cut off need not wait for long. */
const open = (of: OpenBuses): Promise<KafkaBus> => of.open({ sessionMs: 2_000 });

const hearing =
  (heard: Set<string>) =>
  async (events: readonly { readonly id: string }[]): Promise<void> => {
    for (const { id } of events) heard.add(id);
  };

/** Publishes many at a time, so that sends are under way when the broker dies. */
async function speakUntil(end: AbortSignal, bus: KafkaBus, said: Set<string>): Promise<void> {
  const speak = async (): Promise<void> => {
    while (!end.aborted) {
      const fact = aSettled();
      await publishFacts(bus, [fact]);
      said.add(fact.id);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(Array.from({ length: 10 }, speak));
}
