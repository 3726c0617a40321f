import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { freePort } from "@posthaste/local";
import { type AloneServer, startAlone } from "./alone.ts";
import { eventually } from "./client.ts";
import { always, deadUrl, Destination } from "./destination.ts";
import { runAndWait } from "./metered-runs.ts";
import { hasTurn, holdTwoInAQueue } from "./metered-lines.ts";
import manifest from "../../package.json" with { type: "json" };
import { promisedBy, scrape } from "./metrics.ts";
import { itReadsLikePrometheus } from "./promtool.ts";

const { version } = manifest;

let port: number;
let server: AloneServer;
let destination: Destination;

beforeAll(async () => {
  destination = await Destination.start();
  port = await freePort();
  server = await startAlone({ env: { POSTHASTE_METRICS_PORT: String(port) } });
});
afterAll(async () => {
  await server.stop();
  await destination.stop();
});

describe("the metrics of a standalone", () => {
  it("are exactly those of the catalogue", async () => {
    const { types } = await scrape(port);

    expect([...types.keys()]).toEqual(promisedBy("standalone"));
  });

  it("count accepted messages, attempts and deliveries, and the commits of the store", async () => {
    destination.answers("/no", always(400));
    await server.client.published(destination.url("/yes"), {
      "service-callback": destination.url("/callback"),
    });
    await server.client.published(destination.url("/no"), { "service-retries": "0" });
    await server.client.published(await deadUrl(), { "service-retries": "0" });

    const { value } = await eventually(
      () => scrape(port),
      (found) =>
        found.value('posthaste_attempts_total{outcome="delivered"}') === 2 &&
        found.value('posthaste_attempts_total{outcome="unreachable"}') === 1 &&
        found.value('posthaste_attempts_total{outcome="refused"}') === 1,
      60_000,
    );

    expect(value('posthaste_messages_accepted_total{result="new"}')).toBe(3);
    expect(value('posthaste_callbacks_total{kind="callback"}')).toBe(1);
    expect(value('posthaste_messages_ended_total{end="delivered"}')).toBe(2);
    expect(value('posthaste_messages_ended_total{end="failed"}')).toBe(2);
    expect(value("posthaste_delivery_latency_seconds_count")).toBe(2);
    expect(value("posthaste_commit_seconds_count")).toBeGreaterThan(0);
    expect(value("posthaste_commit_writes_sum")).toBeGreaterThan(0);
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(0);
    expect(value(`posthaste_build_info{version="${version}"}`)).toBe(1);
    expect(Math.abs(Date.now() / 1_000 - (value("process_start_time_seconds") ?? 0))).toBeLessThan(
      3_600,
    );
    expect(value('posthaste_heap_bytes{what="used"}')).toBeLessThan(
      value('posthaste_heap_bytes{what="limit"}') ?? 0,
    );
    expect(value("process_open_fds")).toBeGreaterThan(3);
    expect(value("process_max_fds")).toBeGreaterThan(value("process_open_fds") ?? 0);
    expect(value('posthaste_event_loop_delay_seconds{percentile="100"}')).toBeGreaterThanOrEqual(0);
  });

  it("show how many dead letters are kept, how many messages wait in lanes, how old the oldest turn is, and that nothing is overdue", async () => {
    const flow = {
      "service-flow-control-key": "slow",
      "service-flow-control-value": "rate=1, period=1h",
    };
    for (let n = 0; n < 3; n++) await server.client.published(destination.url("/flow"), flow);

    const held = await holdTwoInAQueue(server.client, destination);

    // Counts of the store are taken every five seconds.
    const { value } = await eventually(
      () => scrape(port),
      (found) => found.value("posthaste_lane_depth") === 2 && hasTurn(found),
      60_000,
    );
    held.release();

    expect(value("posthaste_dead_letters")).toBe(2);
    expect(value("posthaste_queue_depth")).toBe(1);
    expect(value('posthaste_shard_owners{shard="63"}')).toBe(1);
    expect(value("posthaste_oldest_past_due_seconds")).toBeGreaterThanOrEqual(0);
    expect(value("posthaste_attempts_running")).toBeGreaterThanOrEqual(0);
  });

  it("count runs: starts, ends, accepted messages, and those that wait", async () => {
    await runAndWait(server.client, destination.url("/run"));

    const { value } = await eventually(
      () => scrape(port),
      (found) =>
        found.value("posthaste_runs_waiting") === 1 &&
        (found.value("posthaste_run_delivery_wait_seconds_count") ?? 0) >= 2,
      60_000,
    );

    expect(value("posthaste_runs_active")).toBe(1);
    expect(value('posthaste_runs_total{event="started"}')).toBe(2);
    expect(value('posthaste_runs_total{event="succeeded"}')).toBe(1);
    expect(value('posthaste_run_entries_total{role="wait"}')).toBe(2);
    expect(value('posthaste_run_entries_total{role="result"}')).toBe(1);
    expect(value("posthaste_run_oldest_past_due_seconds")).toBe(0);
  });

  itReadsLikePrometheus("standalone", () => port);

  it("are served at /metrics alone, and for GET alone", async () => {
    const elsewhere = await fetch(`http://127.0.0.1:${port}/`);
    const posted = await fetch(`http://127.0.0.1:${port}/metrics`, { method: "POST" });
    const onTheGateway = await server.client.get("/metrics");

    expect([elsewhere.status, posted.status, onTheGateway.status]).toEqual([404, 405, 404]);
  });
});
