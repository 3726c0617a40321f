/**
 * Tests isolation: a tenant or destination that is slow, dead or loud holds up no other. Judges by order and counts, and
 * holds the loud ones as long as needed.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "./client.ts";
import { startServer, type TestServer } from "./server.ts";
import { deadUrl, Destination, type Responder, silent } from "./destination.ts";
import { service } from "./dialects.ts";
import { secondUser } from "./users.ts";

const slowMs = 200;
const slotsMax = 40;
const perOriginMax = 20;

let server: TestServer;
let client: Client;
/** A destination for each, since isolation is by origin. */
let healthy: Destination;
let hanging: Destination;
let slow: Destination;

beforeAll(async () => {
  server = await startServer({
    env: {
      POSTHASTE_MAX_IN_FLIGHT: String(slotsMax),
      POSTHASTE_MAX_PER_ORIGIN: String(perOriginMax),
      POSTHASTE_DRAIN_SECONDS: "1",
    },
  });
  client = server.client;
  [healthy, hanging, slow] = await Promise.all([
    Destination.start(),
    Destination.start(),
    Destination.start(),
  ]);
});
afterAll(async () => {
  await Promise.all([healthy.stop(), hanging.stop(), slow.stop()]);
  await server.stop();
});

const slowly: Responder = (_, response) => void setTimeout(() => response.end(), slowMs);

/** Holds arrivals until it opens, and answers later ones slowly. */
class Gate {
  #held: (() => void)[] | undefined = [];

  readonly answer: Responder = (arrival, response, nth) => {
    const answer = (): void => slowly(arrival, response, nth);
    if (this.#held) this.#held.push(answer);
    else answer();
  };

  open(): void {
    for (const answer of this.#held ?? []) answer();
    this.#held = undefined;
  }
}
const publishMany = (count: number, url: string, by = client, settings = {}): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, () => by.published(url, service({ Retries: "1", ...settings }))),
  );

describe("a destination", () => {
  it("that hangs, or is dead, delays no healthy one, with hundreds of messages for each", async () => {
    hanging.answers("/hangs", silent);
    const dead = await deadUrl();
    await publishMany(300, hanging.url("/hangs"));
    await publishMany(300, dead);
    await hanging.arrivals("/hangs", perOriginMax);

    await publishMany(300, healthy.url("/healthy"));
    await healthy.arrivals("/healthy", 300);

    // The hanging destination holds its own slots only, and holds them all the time.
    expect(hanging.at("/hangs")).toHaveLength(perOriginMax);
    expect(healthy.at("/healthy")).toHaveLength(300);
  });

  it("that hangs under many names delays neither another tenant nor another origin of its own tenant", async () => {
    hanging.answers("/many-names", silent);
    const other = new Client(server.port, secondUser.token);
    const names = ["one", "two", "three", "four"].map(
      (name) => `http://${name}.localhost:${hanging.port}/many-names`,
    );
    for (const name of names) await publishMany(perOriginMax, name);
    await hanging.arrivals("/many-names", names.length * perOriginMax);

    await other.published(healthy.url("/other-tenant"));
    await client.published(healthy.url("/other-origin"));

    await healthy.arrival("/other-tenant", 5_000);
    await healthy.arrival("/other-origin", 5_000);
    expect(hanging.at("/many-names")).toHaveLength(names.length * perOriginMax);
  });

  it("that is healthy gets each message at once while hundreds wait for a slow one", async () => {
    const gate = new Gate();
    slow.answers("/crowd", gate.answer);
    await publishMany(400, slow.url("/crowd"));
    await slow.arrivals("/crowd", perOriginMax);

    for (let n = 0; n < 10; n++) {
      await client.published(healthy.url(`/among/${n}`));
      await healthy.arrival(`/among/${n}`);
    }

    expect(slow.at("/crowd").length).toBeLessThan(400);
    gate.open();
    await slow.arrivals("/crowd", 400);
  });
});

describe("a tenant", () => {
  it("that floods a slow destination delays no other tenant's messages to it", async () => {
    const gate = new Gate();
    slow.answers("/flood", gate.answer);
    slow.answers("/quiet", slowly);
    const quiet = new Client(server.port, secondUser.token);
    await publishMany(1_000, slow.url("/flood"));
    await slow.arrivals("/flood", perOriginMax);

    await publishMany(20, slow.url("/quiet"), quiet);
    gate.open();
    await slow.arrivals("/quiet", 20);

    // Behind the flood the message would come last. In turns with the flood, it comes among the first.
    expect(slow.at("/flood").length).toBeLessThan(900);
  });

  it("with a crowded lane is not delayed outside of that lane", async () => {
    slow.answers("/lane", silent);
    const flow = { "Flow-Control-Key": "crowded", "Flow-Control-Value": "parallelism=1" };
    await publishMany(500, slow.url("/lane"), client, flow);

    await client.published(healthy.url("/outside"));
    await healthy.arrival("/outside");

    expect(slow.at("/lane").length).toBeLessThanOrEqual(1);
  });
});
