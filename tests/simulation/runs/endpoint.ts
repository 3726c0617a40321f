/**
 * An endpoint of workflows as its clients write one: asked with a history it does what its program does next, publishes what
 * came of it through any gateway, again while it has no answer, and says 200. It keeps nothing between two requests but how
 * often a step of it has thrown.
 */
import {
  isFault,
  type MessageId,
  type Policy,
  type PublishCommand,
  runId,
  type StepKey,
} from "@posthaste/domain";
import { type RunAddress } from "@posthaste/ports";
import { aCallbackPlan, aCommand, aPolicy, type Dice } from "@posthaste/testing";
import { type Gateway } from "../composition.ts";
import { answered } from "../world/answered.ts";
import { type Answering, type Endpoint } from "../world/destination.ts";
import { type Exchange } from "../world/history.ts";
import { type Environment } from "../world/node.ts";
import { type RunGateway } from "./gateway.ts";
import {
  entryBody,
  outcomeOf,
  type Program,
  readHistory,
  returned,
  type Step,
  turnOf,
} from "./program.ts";

/** A run, as a request of it tells it. */
type Asked = {
  readonly exchange: Exchange;
  readonly program: Program;
  readonly address: RunAddress & { readonly createdAt: number };
  readonly root: MessageId;
};

/** What becomes of a request: done, not wanted by the run any more, or one of the ways to fail. */
type Done = "done" | "throws" | "gives up" | "unpublished";

const publishTriesMax = 4;
const clientTimeoutMs = 5_000;
/** Of all deliveries. */
export const timeoutMs = 15_000;
const statuses: { readonly [Each in Done]: number } = {
  done: 200,
  throws: 500,
  "gives up": 489,
  unpublished: 500,
};

/** What makes the start, or a step, of a program: with the policy that all of its deliveries have. */
export const commandOf = ({ tenant, url }: Program, policy: Policy): PublishCommand =>
  aCommand({
    tenant,
    destination: { kind: "url", url },
    headers: [["Content-Type", "application/json"]],
    policy,
  });

export const startOf = (program: Program, id: string, policy: Policy): PublishCommand => ({
  ...commandOf(program, policy),
  body: new TextEncoder().encode(JSON.stringify({ program: program.index })),
  run: {
    kind: "start",
    id: runId(id),
    features: program.index % 2 === 0 ? ["WF_TriggerOnConfig"] : [],
    headers: [],
  },
});

export const policyOf = (program: Program): Policy =>
  aPolicy({
    timeoutMs,
    // One in three is asked once.
    retriesMax: program.index % 3 === 1 ? 0 : 3,
    retryDelay: "500",
    failureCallback: aCallbackPlan({
      url: `https://${program.index % 3 === 0 ? "flaky" : "good"}-8.example/failed`,
      timeoutMs,
      retryDelay: "500",
    }),
    ...(program.index % 4 === 0 && {
      flow: { key: `runs-${program.index}`, limits: { parallelism: 2, periodMs: 1_000 } },
    }),
  });

export function workflowEndpoint(
  { world, history }: Environment,
  chance: Dice,
  gateways: () => readonly Gateway[],
): Endpoint {
  const { runs } = history;
  let made = 0;

  /** Undefined: no gateway has answered. */
  const publish = async <T>(
    ask: (gateway: RunGateway) => Promise<T>,
  ): Promise<{ value: T } | undefined> => {
    for (let tries = 0; tries < publishTriesMax; tries++) {
      const up = gateways();
      const gateway = up[chance.integer(0, Math.max(0, up.length - 1))];
      const asked = gateway && ask(gateway.runs).then((value) => ({ value }));
      const answer = asked && (await answered(world, clientTimeoutMs, asked));
      if (answer) return answer;
      await world.wait(chance.integer(100, 2_000));
    }
    return undefined;
  };

  /** What its clients make of the answer to a publish. */
  const doneBy = (answer: { value: unknown } | undefined, then: () => void): Done => {
    if (!answer) return "unpublished";
    if (!isFault(answer.value)) {
      then();
      return "done";
    }
    const { fault, text } = answer.value;
    // Its run has ended: all is well.
    if (fault === "run_ended") return "done";
    history.violate("R20", `a step was refused: ${fault} ${text}`);
    return "gives up";
  };

  const append = async (
    { address, program, root }: Asked,
    entries: readonly { key: StepKey; out: string; delayMs?: number }[],
  ): Promise<Done> => {
    const { createdAt, id } = address;
    const commands = entries.map(({ key, out, delayMs }): PublishCommand => ({
      ...commandOf(program, policyOf(program)),
      body: entryBody(key.step, key.role === "plan", out),
      run: { kind: "entry", id, createdAt, key },
      ...(delayMs !== undefined && { postponement: { kind: "delay", delayMs } }),
    }));
    const answer = await publish((gateway) => gateway.publish(commands));
    return doneBy(answer, () => {
      for (const { key } of entries) runs.acks.push({ root, what: "entry", step: key.step });
    });
  };

  const result = (asked: Asked, step: number, out: string, delayMs?: number): Promise<Done> =>
    append(asked, [
      { key: { role: "result", step }, out, ...(delayMs !== undefined && { delayMs }) },
    ]);

  const run = async (asked: Asked, number: number, step: Step, inGroup: boolean): Promise<Done> => {
    const { address, exchange, program, root } = asked;
    const { createdAt, id } = address;
    const policy = policyOf(program);
    const ran = (): number =>
      runs.executions.push({ root, step: number, exchange }) &&
      runs.executions.filter((each) => each.root === root && each.step === number).length;
    switch (step.kind) {
      case "code": {
        const times = ran();
        history.count("runs.code");
        await world.wait(chance.integer(1, 100));
        if (times <= step.throws) return step.isFinal ? "gives up" : "throws";
        return result(asked, number, returned(program, number));
      }
      case "notify": {
        ran();
        const answer = await publish(async (gateway) => {
          // Each request tells it in words of its own.
          const telling = runs.tell(program.tenant, step.event, undefined);
          const body = new TextEncoder().encode(telling.body);
          const reply = await gateway.notify(program.tenant, step.event, body);
          telling.reply = reply.map(({ messageId }) => messageId);
        });
        if (!answer) return "unpublished";
        return result(asked, number, returned(program, number));
      }
      case "sleep":
        return result(asked, number, "slept", inGroup ? undefined : step.ms);
      case "call": {
        const callback = aCallbackPlan({
          url: program.url,
          headers: [["Step", String(number)]],
          timeoutMs,
          retryDelay: "500",
        });
        const { retriesMax, url } = step;
        const command: PublishCommand = {
          ...aCommand({ tenant: program.tenant, destination: { kind: "url", url } }),
          policy: aPolicy({ retriesMax, retryDelay: "700", timeoutMs, callback }),
          run: { kind: "call", id, createdAt, step: number },
        };
        const answer = await publish((gateway) => gateway.publish([command]));
        return doneBy(answer, () => runs.acks.push({ root, what: "call", step: number }));
      }
      case "wait": {
        const wait = {
          command: {
            ...commandOf(program, policy),
            run: { kind: "entry", id, createdAt, key: { role: "result", step: number } },
          },
          event: step.event,
          timeoutMs: step.timeoutMs,
          step: { stepId: number },
          waiter: { url: program.url, headers: {} },
        } as const;
        const answer = await publish((gateway) => gateway.wait(wait));
        return doneBy(answer, () => runs.acks.push({ root, what: "wait", step: number }));
      }
      case "invoke": {
        const child = runs.programs[step.program];
        if (!child) throw new Error("a program names a child that is there");
        // A repeat names another child: its clients draw the id.
        made += 1;
        const started = startOf(child, `child-${made}`, policyOf(child));
        if (started.run?.kind !== "start") throw new Error("not the start of a run");
        const command: PublishCommand = {
          ...started,
          run: {
            kind: "invoke",
            child: started.run,
            answer: {
              ...commandOf(program, policy),
              run: { kind: "entry", id, createdAt, key: { role: "result", step: number } },
            },
            step: { stepId: number },
          },
        };
        const answer = await publish((gateway) => gateway.publish([command]));
        return doneBy(answer, () => runs.acks.push({ root, what: "invoke", step: number }));
      }
    }
  };

  const turn = async (asked: Asked): Promise<Done> => {
    const { address, exchange, program } = asked;
    const { entries } = readHistory(exchange.body);
    const next = turnOf(program, entries);
    switch (next?.kind) {
      case undefined:
        history.violate("R4", `${exchange.id} carries a history that its program cannot have`);
        return "done";
      case "nothing":
        return "done";
      case "plan":
        return append(
          asked,
          next.steps.map((step, i) => ({
            key: { role: "plan", step: next.from + i },
            out: "",
            ...(step.kind === "sleep" && { delayMs: step.ms }),
          })),
        );
      case "step":
        return run(asked, next.number, next.step, next.inGroup);
      case "finish": {
        const out = new TextEncoder().encode(JSON.stringify(outcomeOf(program, entries)));
        const answer = await publish((gateway) => gateway.finish(address, out));
        return doneBy(answer, () => runs.acks.push({ root: asked.root, what: "finish", step: 0 }));
      }
    }
  };

  /** Of a call: its callback says what it was answered. */
  const called = (asked: Asked): Promise<Done> => {
    const step = Number(asked.exchange.headers.find(([name]) => name === "Step")?.[1]);
    const { status } = JSON.parse(new TextDecoder().decode(asked.exchange.body)) as {
      status: number;
    };
    return result(asked, step, `answered ${status}`);
  };

  return async (exchange) => {
    const asked = askedBy(exchange, runs.programs);
    if (!asked) {
      history.violate("R20", `${exchange.id} is of no run`);
      return { afterMs: 0, status: 200, headers: [] };
    }
    const isFlaky = exchange.url.includes("//workflow-flaky-");
    const isSlow = exchange.url.includes("//workflow-slow-");
    if (isFlaky && chance.chance(0.15)) return says("throws", 10);
    if (isSlow) await world.wait(chance.integer(0, chance.chance(0.2) ? 20_000 : 2_000));
    const done = exchange.id.includes("_ra") ? await called(asked) : await turn(asked);
    // It has published, and its answer is lost.
    if (isFlaky && chance.chance(0.1)) return chance.chance(0.5) ? says("throws", 10) : undefined;
    return says(done, chance.integer(1, 50));
  };
}

const says = (done: Done, afterMs: number): Answering => ({
  afterMs,
  status: statuses[done],
  headers: done === "gives up" ? [["Service-NonRetryable-Error", "true"]] : [],
});

/** The program is the one whose URL was asked. */
function askedBy(exchange: Exchange, programs: readonly Program[]): Asked | undefined {
  const { id, run, tenant, url } = exchange;
  const program = programs.find((each) => each.url === url);
  if (!run || !program) return undefined;
  const root = id.replace(/_r[a-z][0-9]*$/, "") as MessageId;
  return { exchange, program, root, address: { tenant, id: run.id, createdAt: run.createdAt } };
}
