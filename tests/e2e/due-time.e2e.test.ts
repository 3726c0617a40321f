/** Tests when messages are delivered: at once, after a delay, not before a time; never early. */
import { describe, expect, it } from "@jest/globals";
import { isFilled } from "./client.ts";
import { service } from "./dialects.ts";
import { numberOf } from "./json.ts";
import { client, destination, startBeforeTests } from "./suite.ts";

/** Only a lost hint exceeds this, and rings after 30 s. */
const lateMsMax = 20_000;

startBeforeTests();

const notBeforeOf = async (id: string): Promise<number> =>
  numberOf((await client.get(`/v2/messages/${id}`)).object()["notBefore"]);

describe("a message", () => {
  it("without a delay is delivered at once", async () => {
    const before = Date.now();

    await client.published(destination.url("/now"));

    const { at } = await destination.arrival("/now");
    expect(at - before).toBeLessThan(lateMsMax);
  });

  it("with a delay is delivered after it, and never early", async () => {
    // Warms up: the first answer of a kind is slow to check, in the process that is also the destination.
    await notBeforeOf(await client.published(destination.url("/read")));

    const published = await Promise.all(
      Array.from({ length: 90 }, async (_, i) => {
        const path = `/delayed/${i}`;
        const delay = `${1 + (i % 3)}s`;
        const id = await client.published(destination.url(path), service({ Delay: delay }));
        return { path, notBefore: await notBeforeOf(id) };
      }),
    );

    for (const { path, notBefore } of published) {
      const { at } = await destination.arrival(path);
      expect(at).toBeGreaterThanOrEqual(notBefore);
      expect(at - notBefore).toBeLessThan(lateMsMax);
      expect(destination.at(path)).toHaveLength(1);
    }
  });

  it("with a not-before time is delivered at that second, and never early", async () => {
    const seconds = Math.ceil(Date.now() / 1_000) + 1;
    const settings = service({ "Not-Before": String(seconds), Delay: "1h" });

    await client.published(destination.url("/not-before"), settings);

    const { at } = await destination.arrival("/not-before");
    expect(at).toBeGreaterThanOrEqual(seconds * 1_000);
    expect(at - seconds * 1_000).toBeLessThan(lateMsMax);
  });

  it("with a delay of more than 2^31 milliseconds waits", async () => {
    await client.published(destination.url("/far"), service({ Delay: "25d" }));
    await client.published(destination.url("/far"), service({ Delay: "365d" }));
    // A later message that arrives shows that the earlier ones' time was checked.
    await client.published(destination.url("/after-far"), service({ Delay: "2s" }));

    await destination.arrival("/after-far");
    expect(destination.at("/far")).toEqual([]);
  });

  it("delays its callback by the callback's own delay", async () => {
    const settings = { Callback: destination.url("/late-callback"), "Callback-Delay": "2s" };

    await client.published(destination.url("/source"), service(settings));

    const source = await destination.arrival("/source");
    const callback = await destination.arrival("/late-callback");
    expect(callback.at - source.at).toBeGreaterThanOrEqual(2_000 - 1);
    expect(callback.at - source.at).toBeLessThan(2_000 + lateMsMax);
  });

  it("is logged soon after its publish", async () => {
    const id = await client.published(destination.url("/logged"), service({ Delay: "1h" }));

    const events = await client.until(`/v2/events?messageId=${id}`, "events", isFilled, 5_000);
    expect(events).toMatchObject([{ state: "CREATED", messageId: id }]);
  });
});
