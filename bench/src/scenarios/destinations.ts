import { freePort } from "@posthaste/local";
import { openLoop } from "../load/senders.ts";
import { type PublishHeaders, publishTemplate } from "../load/template.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, pooled, ratioSpread, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const healthyPerSecond = 200;
const badPerSecond = 50;
const forMs = 4_000;
const slowAnswerMs = 2_000;
const silentTimeout = "3s";
const drainMsMax = 40_000;

export const destinations: Scenario = {
  name: "destinations",
  title: "Slow, silent and dead destinations beside a healthy one",
  budgetMs: 28_000,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const system = await stage.start(...posthaste);
  if (system === undefined) return { blocks: ["Not measured."] };
  const healthy = (await stage.sink()).port;
  const slow = (await stage.sink({ answerAfterMs: slowAnswerMs })).port;
  const silent = (await stage.sink({ answerAfterMs: Number.POSITIVE_INFINITY })).port;
  const dead = await freePort();
  const once = { "Service-Retries": "0" };

  const alone: Float64Array[] = [];
  const beside: Float64Array[] = [];
  await publishAtRate(stage, system, { port: healthy, perSecond: healthyPerSecond });
  const rounds = await stage.rounds(async () => {
    alone.push(await publishAtRate(stage, system, { port: healthy, perSecond: healthyPerSecond }));
    const [among] = await Promise.all([
      publishAtRate(stage, system, { port: healthy, perSecond: healthyPerSecond }),
      publishAtRate(stage, system, { port: slow, perSecond: badPerSecond }),
      publishAtRate(stage, system, {
        port: silent,
        perSecond: badPerSecond,
        headers: { ...once, "Service-Timeout": silentTimeout },
      }),
      publishAtRate(stage, system, {
        port: dead,
        perSecond: badPerSecond,
        headers: once,
        isDead: true,
      }),
    ]);
    beside.push(among);
  });

  const row = (what: string, samples: readonly Float64Array[]) => [
    what,
    figure(percentile(pooled(samples), 0.5)),
    spread(spreadOf(p99s(samples))),
    spread(ratioSpread(p99s(samples), p99s(alone))),
  ];
  return {
    blocks: [
      `${healthyPerSecond} messages per second to a healthy destination, alone and beside ${badPerSecond} per second each to one that answers after ${slowAnswerMs / 1000} s, one that never answers (timeout ${silentTimeout}) and a closed port. ${rounds} rounds; publish → arrival of the healthy ones.`,
      table(
        ["", "p50 ms", "p99 ms", "p99 ÷ alone"],
        [row("alone", alone), row("beside them", beside)],
      ),
    ],
  };
}

type Stream = {
  readonly port: number;
  readonly perSecond: number;
  readonly headers?: PublishHeaders;
  readonly isDead?: boolean;
};

async function publishAtRate(
  stage: Stage,
  system: System,
  { port, perSecond, headers = {}, isDead = false }: Stream,
): Promise<Float64Array> {
  const template = publishTemplate(`http://127.0.0.1:${port}/x`, headers);
  const due = isDead ? ({ kind: "never" } as const) : ({ kind: "at once" } as const);
  const book = stage.books.open((perSecond * forMs) / 1000, due);
  await openLoop({ port: system.port, template }, book, { perSecond, forMs, connections: 32 });
  if (isDead) {
    if (book.accepted < book.sent) stage.fault("messages for a dead destination were refused");
    stage.books.close(book);
    return new Float64Array();
  }
  await stage.settle(`${system.name}, destination ${port}`, book, drainMsMax);
  return book.arrivalMs();
}

const p99s = (rounds: readonly Float64Array[]) => rounds.map((one) => percentile(one, 0.99));
