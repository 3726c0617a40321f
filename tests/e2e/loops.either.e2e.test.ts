/** Tests loops (docs/design/delivery#loops): a message that returns is counted, and stopped. */
import { describe, expect, it } from "@jest/globals";
import { eventually, type Reply, equals } from "./client.ts";
import { type Arrival } from "./destination.ts";
import { dialects, inDialect } from "./dialects.ts";
import { textOf } from "./json.ts";
import { client, destination, server, startBeforeTests } from "./suite.ts";

const hopsMax = 8;

startBeforeTests();

describe.each(dialects)(
  "a destination that publishes each delivery, in the $prefix dialect",
  ({ prefix }) => {
    const path = (name: string): string => `/${prefix}${name}`;
    const hopOf = (arrival: Arrival): string =>
      textOf(arrival.headers[`${prefix}hop`.toLowerCase()]);

    it("is stopped after eight hops, with 400 loop_detected", async () => {
      const replies: Reply[] = [];
      destination.answers(path("loop"), (arrival, response) => {
        const hop = inDialect(prefix, { Hop: hopOf(arrival) });
        void client
          .publish(destination.url(path("loop")), hop)
          .then((reply) => replies.push(reply))
          .finally(() => response.end());
      });

      await client.published(destination.url(path("loop")), inDialect(prefix, { Label: "first" }));

      await destination.arrivals(path("loop"), hopsMax);
      await eventually(async () => replies.length, equals(hopsMax));
      expect(destination.at(path("loop")).map(hopOf)).toEqual([
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "8",
      ]);
      expect(replies.map(({ status }) => status)).toEqual([...Array<number>(7).fill(200), 400]);
      expect(replies[7]?.error()).toContain("loop_detected");
    });

    it("is stopped when its callbacks come back, too", async () => {
      const replies: Reply[] = [];
      destination.answers(path("callback"), (arrival, response) => {
        const settings = { Hop: hopOf(arrival), Callback: destination.url(path("callback")) };
        void client
          .publish(destination.url(path("any")), inDialect(prefix, settings))
          .then((reply) => replies.push(reply))
          .finally(() => response.end());
      });

      const settings = { Callback: destination.url(path("callback")) };
      await client.published(destination.url(path("any")), inDialect(prefix, settings));

      await eventually(
        async () => replies.some(({ status }) => status === 400),
        (stopped) => stopped,
      );
      expect(destination.at(path("any"))).toHaveLength(hopsMax);
      expect(destination.at(path("callback"))).toHaveLength(hopsMax);
    });
  },
);

describe("the server's own address", () => {
  const own = (): string => `http://127.0.0.1:${server.port}/v2/publish/${destination.url("/x")}`;

  it("400 is refused as a destination", async () => {
    const reply = await client.publish(own());

    expect(reply.status).toBe(400);
    expect(reply.error()).toContain("endpoint is this service itself");
  });

  it("400 is refused as an endpoint of a URL group", async () => {
    const endpoints = [{ url: destination.url("/ok") }, { url: own() }];

    const reply = await client.postJson("/v2/topics/loop/endpoints", { endpoints });

    expect(reply.status).toBe(400);
    expect(reply.error()).toMatch(/^endpoints\[1\]\.url: .*this service itself/);
    expect((await client.get("/v2/topics/loop")).status).toBe(404);
  });
});
