/** Tests that a process killed in the middle of a bulk action leaves the rest to the next one. */
import { expect, it } from "@jest/globals";
import { server, startBeforeEach } from "./alone-suite.ts";
import { eventually } from "./client.ts";
import { service } from "./dialects.ts";
import { numberOf, textOf } from "./json.ts";

/** The messages that an unreported step may have cancelled. */
const stepMax = 500;
const count = 8_000;
const rounds = 3;

startBeforeEach();

it("a bulk action survives kill -9: it continues at the next start, and its count is exact to one step", async () => {
  const { client } = server;
  const item = {
    destination: "http://127.0.0.1:9/held",
    headers: service({ Delay: "1h", Label: "all" }),
  };
  const items = JSON.stringify(Array.from({ length: count / 2 }, () => item));
  for (let n = 0; n < 2; n++) expect((await client.post("/v2/batch", {}, items)).status).toBe(200);

  const { actionId } = (await client.delete("/v2/messages?label=all&async=true")).object();
  const read = async () => (await client.get(`/v2/bulkActions/${textOf(actionId)}`)).object();
  let kills = 0;
  for (let seen = 0; kills < rounds; kills++) {
    const { processed, state } = await eventually(
      read,
      (action) => numberOf(action["processed"]) > seen || action["state"] === "FINISHED",
    );
    if (state === "FINISHED") break;
    seen = numberOf(processed);
    await server.process.kill();
    await server.process.start();
  }
  const ended = await eventually(read, ({ state }) => state === "FINISHED");

  const processed = numberOf(ended["processed"]);
  expect(kills).toBeGreaterThan(0);
  expect(processed).toBeLessThanOrEqual(count);
  expect(processed).toBeGreaterThanOrEqual(count - kills * stepMax);
  const left = await client.delete("/v2/messages?label=all&dryRun=true");
  expect(left.object()).toEqual({ dryRun: true, matched: 0 });
});
