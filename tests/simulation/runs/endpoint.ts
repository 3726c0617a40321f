/**
 * An endpoint of workflows as its clients write one. Called with a history, it does the next part of its program,
 * publishes the result through any gateway, again while it has no answer, and answers 200. Between two requests it
 * keeps only how often each of its steps has thrown.
 */
import { isFault, type MessageId } from "@posthaste/domain";
import { type RunAddress } from "@posthaste/ports";
import { type Dice } from "@posthaste/testing";
import { type Ask, askedOnce, type Gateways } from "../clients.ts";
import { type Answering, type Endpoint } from "../world/destination.ts";
import { type Exchange } from "../world/history.ts";
import { type Environment } from "../world/node.ts";
import {
  callOf,
  entryOf,
  hasPages,
  invocationOf,
  marksAnswers,
  type Said,
  startOf,
  stepHeader,
  waitOf,
} from "./commands.ts";
import {
  outcomeOf,
  type Program,
  readHistory,
  returned,
  type Step,
  type Turn,
  turnOf,
} from "./program.ts";
import { type RunAck } from "./seen.ts";

/** A run, as a request for it describes it. */
type Asked = {
  readonly exchange: Exchange;
  readonly program: Program;
  readonly address: RunAddress & { readonly createdAt: number };
  readonly root: MessageId;
};

/** The result of a request: done, or one of the ways to fail. */
type Done = "done" | "throws" | "gives up" | "unpublished";

const publishTriesMax = 4;
const clientTimeoutMs = 5_000;
const statuses: { readonly [Each in Done]: number } = {
  done: 200,
  throws: 500,
  "gives up": 489,
  unpublished: 500,
};

export function workflowEndpoint(
  environment: Environment,
  chance: Dice,
  gateways: Gateways,
): Endpoint {
  const { history, world } = environment;
  const replay = new Replay(environment, chance, gateways);
  return async (exchange) => {
    const asked = askedBy(exchange, history.runs.programs);
    if (!asked) {
      history.violate("R20", `${exchange.id} is of no run`);
      return says("done", 0);
    }
    const isFlaky = exchange.url.includes("//workflow-flaky-");
    const isSlow = exchange.url.includes("//workflow-slow-");
    if (hasPages(asked.program) && !isStart(exchange) && chance.chance(0.1))
      return unmarked(says("done", 10));
    if (isFlaky && chance.chance(0.15)) return says("throws", 10);
    if (isSlow) await world.wait(chance.integer(0, chance.chance(0.2) ? 20_000 : 2_000));
    const done = await replay.take(asked);
    // The endpoint has published, and its answer is lost.
    if (isFlaky && chance.chance(0.1)) return chance.chance(0.5) ? says("throws", 10) : undefined;
    const said = says(done, chance.integer(1, 50));
    return marksAnswers(asked.program) ? said : unmarked(said);
  };
}

const isStart = ({ id }: Exchange): boolean => !/_r[a-z]+[0-9]*$/.test(id);

const unmarked = (answering: Answering): Answering => ({ ...answering, headers: [] });

const says = (done: Done, afterMs: number): Answering => ({
  afterMs,
  status: statuses[done],
  headers: [
    ["Service-Workflow-Sdk-Version", "1"],
    ...(done === "gives up" ? [["Service-NonRetryable-Error", "true"] as const] : []),
  ],
});

const isAnswer = ({ id }: Exchange): boolean => /_ra[0-9]+$/.test(id);

function askedBy(exchange: Exchange, programs: readonly Program[]): Asked | undefined {
  const { id, run, tenant, url } = exchange;
  const program = programs.find((each) => each.url === url);
  if (!run || !program) return undefined;
  const root = id.replace(/_r[a-z]+[0-9]*$/, "") as MessageId;
  return { exchange, program, root, address: { tenant, id: run.id, createdAt: run.createdAt } };
}

/** One request, with the work and the publishes that it causes. */
class Replay {
  readonly #environment: Environment;
  readonly #chance: Dice;
  readonly #gateways: Gateways;
  #children = 0;

  constructor(environment: Environment, chance: Dice, gateways: Gateways) {
    this.#environment = environment;
    this.#chance = chance;
    this.#gateways = gateways;
  }

  take(asked: Asked): Promise<Done> {
    const { exchange } = asked;
    if (isAnswer(exchange)) return this.#hear(asked);
    return exchange.run?.probes ? this.#adopt(asked) : this.#goOn(asked);
  }

  /** Starts the run when told to; the endpoint is then called once more. */
  async #adopt(asked: Asked): Promise<Done> {
    const command = startOf(asked.program, asked.address.id, "adopts");
    const answer = await this.#publish((gateway) => gateway.publish(command));
    this.#environment.history.count("runs.adopted");
    return this.#done(asked, answer, []);
  }

  async #goOn(asked: Asked): Promise<Done> {
    const { address, exchange, program } = asked;
    const { entries } = readHistory(exchange.body);
    const turn = turnOf(program, entries);
    switch (turn?.kind) {
      case undefined:
        this.#environment.history.violate(
          "R4",
          `${exchange.id} carries a history that its program cannot have`,
        );
        return "done";
      case "nothing":
        return "done";
      case "plan":
        return this.#append(asked, plansOf(turn));
      case "step":
        return this.#run(asked, turn);
      case "finish": {
        const out = new TextEncoder().encode(JSON.stringify(outcomeOf(program, entries)));
        const answer = await this.#publish((gateway) => gateway.finishRun(address, out));
        return this.#done(asked, answer, [{ what: "finish", step: 0 }]);
      }
    }
  }

  /** Takes the answer to the call of a step. */
  #hear(asked: Asked): Promise<Done> {
    const { body, headers } = asked.exchange;
    const step = Number(headers.find(([name]) => name === stepHeader)?.[1]);
    const { status } = JSON.parse(new TextDecoder().decode(body)) as { readonly status: number };
    return this.#return(asked, step, `answered ${status}`);
  }

  async #run(asked: Asked, { inGroup, number, step }: Turn & { kind: "step" }): Promise<Done> {
    const { address, program } = asked;
    const { runs } = this.#environment.history;
    switch (step.kind) {
      case "code":
        return this.#runCode(asked, number, step);
      case "notify":
        return this.#tell(asked, number, step.event);
      case "sleep":
        return this.#return(asked, number, "slept", inGroup ? undefined : step.ms);
      case "call": {
        const command = callOf(program, address, number, step);
        const answer = await this.#publish((gateway) => gateway.publish(command));
        return this.#done(asked, answer, [{ what: "call", step: number }]);
      }
      case "wait": {
        const wait = waitOf(program, address, number, step);
        const answer = await this.#publish((gateway) => gateway.wait(wait));
        return this.#done(asked, answer, [{ what: "wait", step: number }]);
      }
      case "invoke": {
        const child = runs.programs[step.program];
        if (!child) throw new Error("a program names a child that is there");
        // A repeat names another child, since clients draw its id.
        this.#children += 1;
        const id = `child-${this.#children}`;
        const command = invocationOf(program, address, number, child, id);
        const answer = await this.#publish((gateway) => gateway.publish(command));
        return this.#done(asked, answer, [{ what: "invoke", step: number }]);
      }
    }
  }

  async #runCode(asked: Asked, number: number, step: Step & { kind: "code" }): Promise<Done> {
    const { history, world } = this.#environment;
    const times = this.#note(asked, number);
    history.count("runs.code");
    await world.wait(this.#chance.integer(1, 100));
    if (times <= step.throws) return step.isFinal ? "gives up" : "throws";
    return this.#return(asked, number, returned(asked.program, number));
  }

  async #tell(asked: Asked, number: number, event: string): Promise<Done> {
    const { program } = asked;
    const { runs } = this.#environment.history;
    this.#note(asked, number);
    const answer = await this.#publish(async (gateway) => {
      // Each request has an event with a body of its own.
      const telling = runs.tell(program.tenant, event, undefined);
      const body = new TextEncoder().encode(telling.body);
      telling.reply = await gateway.notify(program.tenant, event, body);
    });
    return answer ? this.#return(asked, number, returned(program, number)) : "unpublished";
  }

  /** Returns how often the code of the step has run by now. */
  #note({ exchange, root }: Asked, step: number): number {
    const { executions } = this.#environment.history.runs;
    executions.push({ root, step, exchange });
    return executions.filter((each) => each.root === root && each.step === step).length;
  }

  #return(asked: Asked, step: number, out: string, delayMs?: number): Promise<Done> {
    const key = { role: "result", step } as const;
    return this.#append(asked, [{ key, out, ...(delayMs !== undefined && { delayMs }) }]);
  }

  async #append(asked: Asked, entries: readonly Said[]): Promise<Done> {
    const commands = entries.map((entry) => entryOf(asked.program, asked.address, entry));
    const answer = await this.#publish((gateway) => gateway.publishMany(commands));
    const said = entries.map(({ key: { step } }) => ({ what: "entry", step }) as const);
    return this.#done(asked, answer, said);
  }

  async #publish<T>(ask: Ask<T>): Promise<{ readonly value: T } | undefined> {
    const { world } = this.#environment;
    const [chance, gateways] = [this.#chance, this.#gateways];
    for (let tries = 0; tries < publishTriesMax; tries++) {
      const answer = await askedOnce({ world, chance, gateways, timeoutMs: clientTimeoutMs }, ask);
      if (answer) return answer;
      await world.wait(this.#chance.integer(100, 2_000));
    }
    return undefined;
  }

  /** Takes the answer to a publish as clients do. */
  #done(
    { root }: Asked,
    answer: { readonly value: unknown } | undefined,
    said: readonly Omit<RunAck, "root">[],
  ): Done {
    const { history } = this.#environment;
    if (!answer) return "unpublished";
    if (!isFault(answer.value)) {
      history.runs.acks.push(...said.map((each) => ({ root, ...each })));
      return "done";
    }
    const { fault, text } = answer.value;
    // The run has ended, as it may.
    if (fault === "run_ended") return "done";
    history.violate("R20", `a step was refused: ${fault} ${text}`);
    return "gives up";
  }
}

/** A member of a group that sleeps does so before its plan is delivered. */
const plansOf = ({ from, steps }: Turn & { kind: "plan" }): readonly Said[] =>
  steps.map((step, i) => ({
    key: { role: "plan", step: from + i },
    out: "",
    ...(step.kind === "sleep" && { delayMs: step.ms }),
  }));
