import { numbered, token } from "../load/template.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { cpuMs } from "../systems/usage.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const endpointCount = 10_000;
const upsertMax = 1_000;
const group = "bench";
const drainMsMax = 30_000;
const requestMsMax = 30_000;

export const urlGroup: Scenario = {
  name: "group",
  title: "A group of 10,000 endpoints",
  budgetMs: 32_000,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const system = await stage.start(...posthaste);
  if (system === undefined) return { blocks: ["Not measured."] };
  const sink = await stage.sink();
  let book = stage.books.open(endpointCount);
  const upsertMs = await upsertAll(system, sink.port, book.base);

  const answerMs: number[] = [];
  const perSecond: number[] = [];
  const cpuUs: number[] = [];
  const rounds = await stage.rounds(async () => {
    book = stage.books.reopen(book);
    const cpuBefore = cpuMs(system.pids);
    const first = book.send(endpointCount, book.now());
    const status = await post(system, `/v2/publish/${group}`, JSON.stringify({ hello: "all" }));
    book.answer(first, endpointCount, status);
    answerMs.push(book.publishMs()[0] ?? Number.NaN);
    const { arrived } = await stage.settle(system.name, book, drainMsMax);
    perSecond.push((arrived * 1000) / (book.lastArrivedAt - book.firstSentAt));
    cpuUs.push(((cpuMs(system.pids) - cpuBefore) * 1000) / arrived);
  });
  return {
    blocks: [
      `One publish makes ${endpointCount.toLocaleString("en-US")} messages; ${rounds} rounds. Making the group took ${figure(upsertMs)} ms, ${upsertMax} endpoints to a request.`,
      table(
        ["publish → answer, ms", "delivered/s", "CPU µs/message"],
        [[spread(spreadOf(answerMs)), spread(spreadOf(perSecond)), spread(spreadOf(cpuUs))]],
      ),
    ],
  };
}

async function upsertAll(system: System, port: number, firstNumber: number): Promise<number> {
  const startedAt = performance.now();
  for (let from = 0; from < endpointCount; from += upsertMax) {
    const endpoints = Array.from({ length: upsertMax }, (_, index) => ({
      url: `http://127.0.0.1:${port}/e/${numbered(firstNumber + from + index)}`,
    }));
    const status = await post(
      system,
      `/v2/topics/${group}/endpoints`,
      JSON.stringify({ endpoints }),
    );
    if (status !== 200) throw new Error(`a group could not be made: ${status}`);
  }
  return performance.now() - startedAt;
}

async function post({ port }: System, path: string, body: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body,
    signal: AbortSignal.timeout(requestMsMax),
  });
  await response.arrayBuffer();
  return response.status;
}
