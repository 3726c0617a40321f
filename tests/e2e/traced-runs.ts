/** The tests of both shapes that one trace covers everything that a run does, and that every request of the gateway has a span. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { Client as Qstash } from "@upstash/qstash";
import { serve, type WorkflowContext } from "@upstash/workflow";
import { createWorkflow, serveMany } from "@upstash/workflow/express";
import express from "express";
import { type Client, eventually } from "./client.ts";
import { type CollectedSpan, type Collector } from "./collector.ts";
import { type Destination } from "./destination.ts";
import { type Incoming } from "./journey.ts";
import { objectOf, textOf } from "./json.ts";
import { close, listen } from "./loopback.ts";
import { developmentToken } from "./server-process.ts";
import { firstUser } from "./users.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

const openApi = objectOf(
  JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8")),
);
const incoming: Incoming = {
  traceId: "7c1d9a60b2e84f35a0d6c8f21b934e57",
  spanId: "91e4c02d7fb35a68",
};
const traceparent = `00-${incoming.traceId}-${incoming.spanId}-01`;

type Traced = {
  /** A gateway that traces what its callers trace. */
  readonly server: { readonly client: Client; readonly port: number };
  readonly collector: Collector;
  readonly destination: Destination;
};

let server: Traced["server"];
let collector: Collector;
let endpoint: WorkflowEndpoint;
let destination: Destination;

const ofTrace = (spans: readonly CollectedSpan[], name: string) =>
  spans.filter((span) => span.traceId === incoming.traceId && span.name === name);

const isSubmitted = ({ links, name }: CollectedSpan): boolean =>
  name === "publish" && links.includes(incoming.traceId);
const submitted = (spans: readonly CollectedSpan[]) => spans.filter(isSubmitted);

/** The gateway's operations. An operation of management names its server. */
const operations = Object.entries(objectOf(openApi["paths"])).flatMap(([route, all]) =>
  Object.entries(objectOf(all))
    .filter(([, operation]) => !("servers" in objectOf(operation)))
    .map(([method, operation]) => ({
      ...{ method: method.toUpperCase(), route },
      id: textOf(objectOf(operation)["operationId"]),
    })),
);
/** Operations that begin messages, whose ids are in their spans. */
const publishing = ["publish", "enqueue", "trigger"];

export function describeTracedRuns(traced: () => Traced): void {
  beforeAll(async () => {
    jest.spyOn(console, "warn").mockImplementation(() => undefined);
    jest.spyOn(console, "error").mockImplementation(() => undefined);
    ({ server, collector, destination } = traced());
    endpoint = await WorkflowEndpoint.start();
  });
  afterAll(() => endpoint.stop());

  describe("a traced run", () => {
    it("is one trace: its start, its steps with their retries, a call to a third party with its callback, and the report of its failure", async () => {
      const settings = { baseUrl: `http://127.0.0.1:${server.port}`, token: developmentToken };
      const { handler } = serve(
        async (context) => {
          await context.run("one", () => 1);
          await context.call("third", { url: destination.url("/third"), method: "POST" });
          await context.run("two", () => {
            throw new Error("not now");
          });
        },
        {
          qstashClient: new Qstash(settings),
          disableTelemetry: true,
          failureFunction: () => "told",
        },
      );
      const url = endpoint.route("/traced", handler);
      const retries = { "upstash-retries": "1", "upstash-retry-delay": "100" };

      await server.client.call("POST", `/v2/trigger/${url}`, { traceparent, ...retries }, "{}");
      const spans = await collector.until((found) => ofTrace(found, "attempt").length >= 7);

      const [publish] = ofTrace(spans, "publish");
      const attempts = ofTrace(spans, "attempt");
      const root = publish?.attributes["posthaste.message.id"];
      expect(publish?.parentSpanId).toBe(incoming.spanId);
      expect(publish?.attributes["posthaste.run.id"]).toMatch(/^wfr_/);
      for (const { parentSpanId } of attempts) expect(parentSpanId).toBe(publish?.spanId);
      const ended = attempts.map(({ attributes }) =>
        [attributes["posthaste.message.id"], attributes["posthaste.outcome"]].join(" "),
      );
      // Step "one"; the call, and its answer; step "two", twice; the failure function.
      expect(ended.toSorted()).toEqual(
        [
          `${root} delivered`,
          `${root}_rs1 delivered`,
          `${root}_rc2 delivered`,
          `${root}_ra2 delivered`,
          `${root}_rs2 refused`,
          `${root}_rs2 refused`,
          `${root}_rf delivered`,
        ].toSorted(),
      );
      expect(destination.at("/third")[0]?.headers["traceparent"]).toContain(incoming.traceId);
      const { "posthaste.run.id": runId } = publish?.attributes ?? {};
      const named = attempts.map(({ attributes }) => [
        attributes["posthaste.run.id"] === runId,
        attributes["posthaste.run.part"],
        attributes["posthaste.run.step"],
      ]);
      expect(named).toEqual(
        expect.arrayContaining([
          [true, "start", undefined],
          [true, "s1", "one"],
          [true, "c2", "third"],
          [true, "a2", "third"],
          [true, "f", undefined],
        ]),
      );
      // An endpoint's publish of its steps is outside of the run's trace, but links to it.
      expect(ofTrace(spans, "publish")).toHaveLength(1);
      const steps = submitted(await collector.until((found) => submitted(found).length >= 3));
      expect(steps.map(({ attributes }) => attributes["posthaste.run.step"])).toEqual([
        "one",
        "third",
        "third",
      ]);
      expect(new Set(steps.map(({ attributes }) => attributes["posthaste.run.id"]))).toEqual(
        new Set([runId]),
      );
      expect(collector.received()).toMatch(
        /"service\.version","value":\{"stringValue":"\d+\.\d+\.\d+"/,
      );
    }, 120_000);
  });

  describe("a traced run that waits and invokes", () => {
    it("has each delivery in its trace under the name of the step, and a span for the publish of each", async () => {
      const traceId = "33333333333333333333333333333333";
      const settings = { baseUrl: `http://127.0.0.1:${server.port}`, token: developmentToken };
      const qstashClient = new Qstash(settings);
      const options = { disableTelemetry: true };
      const child = createWorkflow(
        async (context: WorkflowContext<undefined>) => context.run("inner", () => 1),
        options,
      );
      const parent = createWorkflow(async (context: WorkflowContext<undefined>) => {
        await Promise.all([
          context.waitForEvent("told", "traced-told", { timeout: 60 }),
          context.waitForEvent("late", "traced-late", { timeout: 1 }),
        ]);
        await context.invoke("other", { workflow: child, body: undefined });
      }, options);
      const many = express().use("/many", serveMany({ parent, child }, { qstashClient }));
      const app = createServer(express().use(express.json(), many));
      const url = `http://127.0.0.1:${await listen(app)}/many/parent`;
      const headers = { traceparent: `00-${traceId}-${incoming.spanId}-01` };

      await server.client.call("POST", `/v2/trigger/${url}`, headers, "{}");
      await eventually(
        () => server.client.post("/v2/notify/traced-told", {}, "1"),
        (notified) => notified.list().length > 0,
      );
      const named = (found: readonly CollectedSpan[]) =>
        found
          .filter((span) => span.traceId === traceId && span.name === "attempt")
          .map(({ attributes }) =>
            [attributes["posthaste.run.part"], attributes["posthaste.run.step"]].join(" "),
          );
      const submitted = (found: readonly CollectedSpan[]) =>
        found
          .filter(({ links, name }) => name === "publish" && links.includes(traceId))
          .map(({ attributes }) =>
            [attributes["posthaste.run.part"], attributes["posthaste.run.step"]].join(" "),
          );
      // Each process sends its spans in its own time.
      const spans = await collector.until(
        (found) =>
          named(found).includes("s3 other") &&
          ["v3 other", "s1 inner"].every((step) => submitted(found).includes(step)),
      );

      expect(named(spans).toSorted()).toEqual(
        // The parent has a start, plans and results of the waits, and the end of the other. The other has a start and a step.
        [
          "start ",
          "p1 told",
          "p2 late",
          "s1 told",
          "s2 late",
          "s3 other",
          "start ",
          "s1 inner",
        ].toSorted(),
      );
      await close(app);
    }, 120_000);
  });

  describe("a request of the gateway", () => {
    it("has a span with its route and its status, and no id", async () => {
      await server.client.call("GET", "/v2/queues/secret-name", { traceparent }, "");
      await server.client.call("GET", "/v2/schedules", { traceparent }, "");

      const spans = await collector.until((found) => ofTrace(found, "request").length >= 2);

      expect(ofTrace(spans, "request").map(({ attributes }) => attributes["http.route"])).toEqual([
        "/v2/queues/{queueName}",
        "/v2/schedules",
      ]);
      expect(ofTrace(spans, "request")[1]?.attributes["http.response.status_code"]).toBe("200");
      expect(collector.received()).not.toContain("secret-name");
    });

    it("that publishes many messages has all of them in its trace", async () => {
      const traceId = "11111111111111111111111111111111";
      const items = ["/many-one", "/many-two"].map((path) => ({
        destination: destination.url(path),
        body: "x",
      }));

      await server.client.call(
        "POST",
        "/v2/batch",
        { traceparent: `00-${traceId}-${incoming.spanId}-01`, "content-type": "application/json" },
        JSON.stringify(items),
      );
      const spans = await collector.until(
        (found) =>
          found.filter((span) => span.traceId === traceId && span.name === "attempt").length >= 2 &&
          found.some((span) => span.traceId === traceId && span.name === "request"),
      );

      const [request] = spans.filter((span) => span.traceId === traceId && span.name === "request");
      const attempts = spans.filter((span) => span.traceId === traceId && span.name === "attempt");
      expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([
        request?.spanId,
        request?.spanId,
      ]);
    });

    it("without a right token begins no span", async () => {
      const { status } = await server.client.call(
        "GET",
        "/v2/flowControl",
        { traceparent, authorization: "Bearer wrong" },
        "",
      );
      await server.client.call("GET", "/v2/queues", { traceparent }, "");
      const routes = (found: readonly CollectedSpan[]) =>
        ofTrace(found, "request").map(({ attributes }) => attributes["http.route"]);
      const spans = await collector.until((found) => routes(found).includes("/v2/queues"));

      expect(status).toBe(401);
      expect(routes(spans)).not.toContain("/v2/flowControl");
    });

    it("has a span, whatever its operation, even when it is refused", async () => {
      const traceId = "22222222222222222222222222222222";
      const headers = { traceparent: `00-${traceId}-${incoming.spanId}-01` };
      const run = { "service-workflow-runid": "hooked", "service-workflow-init": "true" };
      await server.client.published(destination.url("/hooked"), run);
      const made = { stepId: 1, stepType: "CreateWebhook", out: '{"eventId":"event"}' };
      const step = { "service-workflow-runid": "hooked" };
      await server.client.publish(destination.url("/hooked"), step, JSON.stringify(made));
      const hook = "/v2/workflows/hooks/{user}/{runId}/{eventId}";
      const address = `/v2/workflows/hooks/${firstUser.userId}/hooked/event`;

      await fetch(`http://127.0.0.1:${server.port}${address}`, { method: "PUT", headers });
      for (const { method, route } of operations) {
        const path = route
          .replace("{destination}", destination.url("/any"))
          .replaceAll(/\{\w+\}/g, "none");
        await server.client.call(method, path, headers, "{}");
      }
      const mine = (found: readonly CollectedSpan[], name: string) =>
        found.filter((span) => span.traceId === traceId && span.name === name);
      const spans = await collector.until(
        (found) => mine(found, "request").length > operations.length - publishing.length,
      );

      const asked = mine(spans, "request").map(
        ({ attributes }) => `${attributes["http.request.method"]} ${attributes["http.route"]}`,
      );
      const expected = operations
        .filter(({ id }) => !publishing.includes(id))
        .map(({ method, route }) => `${method} ${route}`);
      expect(asked.toSorted()).toEqual([...expected, `PUT ${hook}`].toSorted());
      expect(mine(spans, "publish")).toHaveLength(publishing.length);
    });
  });
}
