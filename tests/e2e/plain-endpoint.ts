/** An endpoint of runs that has no SDK, and the requests of a caller without one. Uses the server and destination of the suite. */
import { expect } from "@jest/globals";
import { eventually, type Reply, isFilled } from "./client.ts";
import { type Arrival } from "./destination.ts";
import { type Json, objectOf } from "./json.ts";
import { destination, server } from "./suite.ts";

export const ofRun = (id: string) => ({
  "Service-Workflow-RunId": id,
  "Service-Workflow-Init": "false",
});

export type Entry = Json & { readonly stepId?: number; readonly targetStep?: number };

export const entriesIn = ({ body }: Arrival): readonly Entry[] =>
  (JSON.parse(body.toString()) as { body: string }[])
    .slice(1)
    .map((entry) => JSON.parse(Buffer.from(entry.body, "base64").toString()) as Entry);

export async function taken(asked: Promise<Reply>): Promise<void> {
  const { status, text } = await asked;
  if (status !== 200) throw new Error(`${status} ${text}`);
}

/**
 * Steps 1 and 2 run in parallel, 3 sleeps, 4 calls a destination party, 5 waits for an event, 6 fails while the endpoint is broken.
 * The endpoint uses the delivered history and nothing else.
 */
export class Endpoint {
  readonly #path: string;
  readonly told: Json[] = [];
  isBroken = true;

  constructor(path: string) {
    this.#path = path;
    destination.answers(path, (arrival, response) => {
      response.setHeader("Service-Workflow-Sdk-Version", "1");
      response.setHeader("Service-Workflow-Sdk", "v1.3.3");
      this.#take(arrival).then(
        (status) => response.writeHead(status, { "Service-Error-Step-Name": "ship" }).end("{}"),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    destination.answers(`${path}/third`, (_, response) => response.writeHead(202).end("called"));
  }

  get url(): string {
    return destination.url(this.#path);
  }

  /** Returns the number of entries in each delivery of the run; `answer` for that of a call, `failure` for that of the run. */
  deliveries(run: string): readonly (number | "answer" | "failure")[] {
    return destination
      .at(this.#path)
      .filter(({ headers }) => headers["service-workflow-runid"] === run)
      .map((arrival) => {
        if (arrival.headers["service-workflow-is-failure"]) return "failure";
        return isAnswer(arrival) ? "answer" : entriesIn(arrival).length;
      });
  }

  async #take(arrival: Arrival): Promise<number> {
    const { headers } = arrival;
    const run = String(headers["service-workflow-runid"]);
    const { client } = server;
    const step = (json: object, settings = {}) =>
      taken(client.publish(this.url, { ...ofRun(run), ...settings }, JSON.stringify(json)));
    if (headers["service-workflow-is-failure"]) {
      this.told.push(objectOf(JSON.parse(arrival.body.toString())));
      return 200;
    }
    if (isAnswer(arrival)) {
      const { status, body } = objectOf(JSON.parse(arrival.body.toString()));
      const said = { status, body: Buffer.from(String(body), "base64").toString() };
      const stepId = Number(headers["service-workflow-stepid"]);
      await step({ stepId, stepName: "tell", stepType: "Call", out: JSON.stringify(said) });
      return 200;
    }
    const entries = entriesIn(arrival);
    const last = entries.at(-1);
    if (entries.length === 0) await taken(this.#plan(run));
    else if (last?.targetStep !== undefined) {
      const { targetStep, stepName } = last;
      await step({ stepId: targetStep, stepName, stepType: "Run", concurrent: 2, out: "1" });
    } else if (entries.length === 4) {
      const sleep = { stepId: 3, stepName: "settle", stepType: "SleepFor", sleepFor: 1 };
      await step(sleep, { "Service-Delay": "1s" });
    } else if (entries.length === 5) {
      const call = {
        ...ofRun(run),
        "Service-Workflow-CallType": "toCallback",
        "Service-Method": "PUT",
        "Service-Forward-X-Mine": "a",
        "Service-Callback": this.url,
        "Service-Callback-Forward-Service-Workflow-Callback": "true",
        "Service-Callback-Forward-Service-Workflow-StepId": "4",
        "Service-Callback-Forward-Service-Workflow-StepName": "tell",
      };
      await taken(client.publish(`${this.url}/third`, call, "asked"));
    } else if (entries.length === 6) {
      const wait = { stepId: 5, stepName: "picked up", stepType: "Wait" };
      const body = JSON.stringify({ url: this.url, timeout: "90m", step: wait });
      await taken(client.post(`/v2/wait/picked:${this.#path.slice(1)}`, ofRun(run), body));
    } else if (entries.length === 7) {
      if (this.isBroken) return 500;
      await step({ stepId: 6, stepName: "ship", stepType: "Run", out: '"shipped"' });
    } else if (entries.length === 8)
      await taken(client.delete(`/v2/workflows/runs/${run}?cancel=false`, '"done"'));
    return 200;
  }

  #plan(run: string): Promise<Reply> {
    const items = ["pay", "label"].map((stepName, i) => ({
      destination: this.url,
      headers: ofRun(run),
      body: JSON.stringify({ stepId: 0, targetStep: i + 1, stepName, concurrent: 2 }),
    }));
    return server.client.postJson("/v2/batch", items);
  }
}

export const isAnswer = ({ headers }: Arrival): boolean =>
  headers["service-workflow-callback"] === "true";

export async function logged(id: string): Promise<Json | undefined> {
  const reply = await server.client.get(`/v2/workflows/logs?workflowRunId=${id}&trimBody=1000`);
  expect(reply.object()["cursor"]).toBe("");
  return reply.list("runs")[0];
}

export const inState = (id: string, state: string): Promise<Json | undefined> =>
  eventually(
    () => logged(id),
    (run) => run?.["workflowState"] === state,
  );

export const rowsOf = (run: Json | undefined): readonly Json[] =>
  (run?.["steps"] as { type: string; steps: Json[] }[]).flatMap(({ steps, type }) =>
    steps.map((step) => ({ type, ...step })),
  );

export const notified = async (path: string): Promise<Json | undefined> => {
  const [first] = await eventually(
    async () => (await server.client.post(`/v2/notify/picked:${path}`, {}, '{"by":"me"}')).list(),
    isFilled,
  );
  return first;
};
