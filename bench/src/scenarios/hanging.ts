/** Measures other tenants while thousands of one tenant's calls hang, on one server with many names. */
import { closedLoop, openLoop } from "../load/senders.ts";
import { type Sink } from "../load/sink.ts";
import { type PublishHeaders, publishTemplate, secondTenant } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, pooled, ratioSpread, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const hangingCalls = 1_600;
const namesOfServer = [16, 160];
const perSecond = 100;
const forMs = 3_000;
const hangMsMax = 20_000;
const hangs = { "Service-Timeout": "2h", "Service-Retries": "0" };
const timesAloneMax = 2;

export const hanging: Scenario = {
  name: "hanging",
  title: "Thousands of hanging calls to one server with many names",
  budgetMs: 60_000,
  run,
};

/** Publish → arrival: for another tenant, and for another origin of the tenant whose calls hang. */
type Samples = { readonly otherTenant: Float64Array[]; readonly otherOrigin: Float64Array[] };
const noSamples = (): Samples => ({ otherTenant: [], otherOrigin: [] });

async function run(stage: Stage): Promise<Findings> {
  const system = await stage.start(...posthaste);
  if (system === undefined) return { blocks: ["Not measured."] };
  const sinks = [await stage.sink(), await stage.sink()] as const;
  const alone = noSamples();
  const beside = namesOfServer.map((names) => ({ names, samples: noSamples() }));
  await measure(stage, system, sinks, noSamples());
  const rounds = await stage.rounds(async () => {
    await measure(stage, system, sinks, alone);
    for (const { names, samples } of beside) {
      const silent = await stage.sink({ answerAfterMs: Number.POSITIVE_INFINITY });
      await hang(stage, system, silent, names);
      await measure(stage, system, sinks, samples);
      if (silent.connections < hangingCalls)
        stage.fault(`only ${silent.connections} of ${hangingCalls} calls hung`);
      silent.hangUp();
    }
  });
  const whose = [
    ["another tenant", "otherTenant"],
    ["another origin of the same tenant", "otherOrigin"],
  ] as const;
  const row = (who: string, what: string, samples: readonly Float64Array[], than = samples) => [
    who,
    what,
    figure(percentile(pooled(samples), 0.5)),
    spread(spreadOf(p99s(samples))),
    spread(ratioSpread(p99s(samples), p99s(than))),
  ];
  return {
    blocks: [
      `${hangingCalls} messages of one tenant, with a timeout of 2 h, to ${namesOfServer.join(" or ")} names of a server that accepts requests and never answers; ${perSecond} messages per second of another tenant, and as many of the same tenant to another origin, alone and during the hanging calls. ${rounds} rounds; publish → arrival.`,
      table(
        ["whose", "", "p50 ms", "p99 ms", "p99 ÷ alone"],
        whose.flatMap(([who, key]) => [
          row(who, "alone", alone[key]),
          ...beside.map(({ names, samples }) =>
            row(who, `${names} names`, samples[key], alone[key]),
          ),
        ]),
      ),
    ],
    goals: beside.flatMap(({ names, samples }) =>
      whose.map(([who, key]) =>
        atMost(
          `p99 of ${who} during ${hangingCalls} hanging calls to ${names} names ÷ alone`,
          ratioSpread(p99s(samples[key]), p99s(alone[key]))?.median,
          timesAloneMax,
        ),
      ),
    ),
  };
}

/** Measures both at once, also without hanging calls, so that the load is the same. */
async function measure(
  stage: Stage,
  system: System,
  [first, second]: readonly [Sink, Sink],
  samples: Samples,
): Promise<void> {
  const [otherTenant, otherOrigin] = await Promise.all([
    publishAtRate(stage, system, first, secondTenant),
    publishAtRate(stage, system, second, {}),
  ]);
  samples.otherTenant.push(otherTenant);
  samples.otherOrigin.push(otherOrigin);
}

async function publishAtRate(
  stage: Stage,
  system: System,
  { port }: Sink,
  headers: PublishHeaders,
): Promise<Float64Array> {
  const template = publishTemplate(`http://127.0.0.1:${port}/x`, headers);
  const book = stage.books.open((perSecond * forMs) / 1_000);
  await openLoop({ port: system.port, template }, book, { perSecond, forMs, connections: 32 });
  await stage.settle(`${system.name}, destination ${port}`, book);
  return book.arrivalMs();
}

/** Resolves when every published call hangs. */
async function hang(stage: Stage, system: System, silent: Sink, names: number): Promise<void> {
  await Promise.all(
    Array.from({ length: names }, async (_, name) => {
      const url = `http://name-${name}.localhost:${silent.port}/x`;
      const book = stage.books.open(hangingCalls / names);
      await closedLoop({ port: system.port, template: publishTemplate(url, hangs) }, book, {
        connections: 1,
        forMs: hangMsMax,
      });
      await stage.settle(`${system.name}, ${url}`, book, hangMsMax);
    }),
  );
}

const p99s = (rounds: readonly Float64Array[]) => rounds.map((one) => percentile(one, 0.99));
