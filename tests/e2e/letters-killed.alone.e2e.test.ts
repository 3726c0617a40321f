/** Tests that a process killed in the middle of retries of dead letters leaves the rest to the next calls. */
import { expect, it } from "@jest/globals";
import { destination, server, startBeforeEach } from "./alone-suite.ts";
import { eventually, equals } from "./client.ts";
import { always } from "./destination.ts";
import { service } from "./dialects.ts";
import { textOf } from "./json.ts";

const count = 600;
const rounds = 3;
const path = "/letters";

startBeforeEach();

/** Returns the message ids by body, of arrivals after the first `before`. */
function broughtSince(before: number): ReadonlyMap<string, ReadonlySet<string>> {
  const arrivals = destination.at(path).slice(before);
  const byBody = Map.groupBy(arrivals, ({ body }) => body.toString());
  const idsOf = (each: typeof arrivals) =>
    new Set(each.map(({ headers }) => textOf(headers["service-message-id"])));
  return new Map([...byBody].map(([body, each]) => [body, idsOf(each)]));
}

it("retries of dead letters survive kill -9: each makes one message, and none is lost", async () => {
  const { client } = server;
  destination.answers(path, always(500));
  const headers = service({ Retries: "0" });
  const items = Array.from({ length: count }, (_, n) => ({
    ...{ destination: destination.url(path), headers },
    body: String(n),
  }));
  expect((await client.postJson("/v2/batch", items)).status).toBe(200);
  const letters = async () => (await client.get("/v2/overview")).object()["deadLetters"];
  await eventually(letters, equals(count));
  destination.answers(path, always(200));
  const before = destination.at(path).length;

  for (let kills = 0; kills < rounds; kills++) {
    const arrived = destination.at(path).length;
    // The answer is lost with the process.
    const retrying = client.post("/v2/dlq/retry").catch(() => undefined);
    await destination.arrivals(path, arrived + 1);
    await server.process.kill();
    await retrying;
    await server.process.start();
  }
  for (let cursor: string | undefined; cursor !== "";)
    cursor = textOf((await client.post("/v2/dlq/retry")).object()["cursor"]);

  const brought = await eventually(
    async () => broughtSince(before),
    ({ size }) => size === count,
  );
  expect(new Set([...brought.values()].map(({ size }) => size))).toEqual(new Set([1]));
  expect(await letters()).toBe(0);
});
