import { openLoop } from "../load/senders.ts";
import { numberPlace, type PublishHeaders, publishTemplate } from "../load/template.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, pooled, ratioSpread, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const perSecond = 200;
const floodPerSecond = 100;
const forMs = 2_000;
const drainMsMax = 20_000;
/** As much work as 256 characters can ask for. */
const newExpression = `${numberPlace}${"+floor(9e307)*0".repeat(15)}`;
const retries = "1000";

export const expressions: Scenario = {
  name: "expressions",
  title: "New retry delay expressions beside messages without",
  budgetMs: 24_000,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const system = await stage.start(...posthaste);
  if (system === undefined) return { blocks: ["Not measured."] };
  const alone: Float64Array[] = [];
  const besidePlain: Float64Array[] = [];
  const besideNew: Float64Array[] = [];
  const beside = async (headers: PublishHeaders) => {
    const [ours] = await Promise.all([
      publishAtRate(stage, system, perSecond),
      publishAtRate(stage, system, floodPerSecond, headers),
    ]);
    return ours;
  };
  await beside({ "Service-Retry-Delay": newExpression });
  const rounds = await stage.rounds(async () => {
    alone.push(await publishAtRate(stage, system, perSecond));
    besidePlain.push(await beside({ "Service-Retries": retries }));
    besideNew.push(
      await beside({ "Service-Retries": retries, "Service-Retry-Delay": newExpression }),
    );
  });
  const row = (what: string, samples: readonly Float64Array[]) => [
    what,
    figure(percentile(pooled(samples), 0.5)),
    spread(spreadOf(p99s(samples))),
    spread(ratioSpread(p99s(samples), p99s(alone))),
  ];
  return {
    blocks: [
      `${perSecond} messages per second without an expression, alone, beside ${floodPerSecond} more per second like them, and beside ${floodPerSecond} per second each with an expression that was never seen before, of 235 characters and for ${retries} retries. ${rounds} rounds; publish → arrival of those without.`,
      table(
        ["", "p50 ms", "p99 ms", "p99 ÷ alone"],
        [
          row("alone", alone),
          row("beside more like them", besidePlain),
          row("beside new expressions", besideNew),
        ],
      ),
    ],
  };
}

async function publishAtRate(
  stage: Stage,
  system: System,
  rate: number,
  headers: PublishHeaders = {},
): Promise<Float64Array> {
  const sink = await stage.sink();
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`, headers);
  const book = stage.books.open((rate * forMs) / 1000);
  await openLoop({ port: system.port, template }, book, {
    perSecond: rate,
    forMs,
    connections: 32,
  });
  await stage.settle(system.name, book, drainMsMax);
  return book.arrivalMs();
}

const p99s = (rounds: readonly Float64Array[]) => rounds.map((one) => percentile(one, 0.99));
