import { afterEach, describe, expect, it } from "@jest/globals";
import { type Service } from "@posthaste/ports";
import { recordingLog, virtualClock } from "@posthaste/testing";
import { createCounted } from "./counted.ts";
import { createMetricsEndpoint } from "./metrics-endpoint.ts";

const token = "0123456789abcdef";

let endpoint: Service | undefined;
afterEach(() => endpoint?.stop());

/** Returns the statuses of reads with these headers. */
async function statuses(
  wanted: string | undefined,
  headers: readonly Readonly<Record<string, string>>[],
): Promise<readonly number[]> {
  const log = recordingLog();
  const counted = createCounted("deliverer", virtualClock());
  endpoint = createMetricsEndpoint({ host: "127.0.0.1", port: 0, token: wanted, counted, log });
  await endpoint.start();
  const port = String(log.lines.find(({ event }) => event === "metrics.listening")?.fields["port"]);
  const answers = headers.map((each) =>
    fetch(`http://127.0.0.1:${port}/metrics`, { headers: each }),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

describe("the metrics", () => {
  it("are read with their token alone, where one is set", async () => {
    const read = await statuses(token, [
      {},
      { authorization: "Bearer 0123456789abcdeg" },
      { authorization: `Basic ${token}` },
      { authorization: `Bearer ${token} more` },
      { authorization: `Bearer ${token}` },
      { authorization: `bearer ${token}` },
    ]);

    expect(read).toEqual([401, 401, 401, 401, 200, 200]);
  });

  it("are read without a token if none is set", async () => {
    expect(await statuses(undefined, [{}, { authorization: "Bearer other" }])).toEqual([200, 200]);
  });
});
