/** Tests large runs: a history that capable endpoints fetch, and calls whose answers are results of steps. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { boundedEnv } from "./shared-env.ts";
import {
  client,
  type Context,
  endpoint,
  inState,
  startBeforeTests,
  third,
  workflow,
} from "./workflow-clients.ts";

startBeforeTests({ env: boundedEnv });

const large = (kib: number): string => randomBytes(kib * 512).toString("hex");

const results = [large(60), large(60), large(1)];

async function route(context: Context<string>): Promise<readonly string[]> {
  const [one, two] = [
    await context.run("one", () => results[0] ?? ""),
    await context.run("two", () => results[1] ?? ""),
  ];
  const [three, four] = await Promise.all([
    context.run("three", () => results[2] ?? ""),
    context.run("four", () => "four"),
  ]);
  return [one, two, three, four, String(context.requestPayload)];
}

/** Returns the length of the history in each delivery, or 0 for none. */
async function run(path: string, isKnown: boolean): Promise<readonly number[]> {
  // Telemetry tells the server what the endpoint is.
  const { url, ended } = workflow(path, route, { disableTelemetry: !isKnown });
  const payload = large(10);
  const { workflowRunId } = await client.trigger({ url, body: payload });

  expect(await ended).toEqual([...results, "four", payload]);
  await inState(workflowRunId, "RUN_SUCCESS");
  return endpoint.deliveries(path).map(({ length }) => length);
}

it("an endpoint that can fetch a large history does, and sees in each delivery the history of its own", async () => {
  const lengths = await run("/fetches", true);

  expect(lengths).toEqual([1, 2, 0, 0, 0, 0, 0]);
});

it("an endpoint not known to fetch a large history receives it in the delivery", async () => {
  const lengths = await run("/whole", false);

  expect(lengths.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

const mebibyte = 1024 * 1024;
/** Text whose parts are all different, and which JSON does not escape. */
const text = (bytes: number): string => large(bytes / 1024).slice(0, bytes);

describe("a call", () => {
  /** Returns the value with which the run continues, or why it failed. */
  async function called(path: string, answer: string, body = ""): Promise<string> {
    third.answers(path, (_, response) => response.writeHead(200).end(answer));
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    const { url } = workflow(
      path,
      async (context) => {
        const call = { url: third.url(path), method: "POST", body } as const;
        resolve((await context.call<string>("call", call)).body);
      },
      {
        disableTelemetry: false,
        failureFunction: ({ failResponse }) => resolve(`failed: ${failResponse}`),
      },
    );
    await client.trigger({ url, retries: 0 });
    return ended;
  }

  it("has 8 MiB of its answer as its result, however large its request was", async () => {
    const whole = text(8 * mebibyte);

    const heard = await called("/large-answer", `${whole}more`, "x".repeat(9 * mebibyte));

    // Compared as one value, so that a failure does not print them.
    expect(heard === whole).toBe(true);
  });

  it("fails its run when its answer makes a step longer than a body may be", async () => {
    const quotes = '"'.repeat(3 * mebibyte);

    const said = await called("/quoted-answer", quotes);

    expect(said).toContain("maxMessageSize");
    expect(endpoint.deliveries("/quoted-answer")).toHaveLength(3);
  });
});
