import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, jest } from "@jest/globals";
import { hasPrometheus, promtool } from "@posthaste/local";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { stringify } from "yaml";
import { alerts } from "./alerts.ts";

/** Prometheus' own tools may have to be fetched. */
jest.setTimeout(10 * 60_000);

/** Samples once a minute: one hour of trouble, then three good ones. */
const gauge = (bad: number, well = 0) => `${bad}x60 ${well}x180`;
const counter = "0+60x60 3600x180";
/** A histogram whose count is above `bound` for one hour. */
const above = (name: string, bound: string) => ({
  [`${name}_bucket{le="${bound}"}`]: "0x240",
  [`${name}_bucket{le="100"}`]: counter,
  [`${name}_bucket{le="+Inf"}`]: counter,
});
const firesAt = "45m";
const isWellAt = "200m";

const troubles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PosthasteNoDeliverer: { 'up{job="posthaste-deliverer"}': gauge(0, 1) },
  PosthasteProcessDown: { 'up{job="posthaste-gateway"}': gauge(0, 1) },
  PosthastePastDue: { posthaste_oldest_past_due_seconds: gauge(61) },
  PosthasteTimersLate: above("posthaste_timer_lateness_seconds", "5"),
  PosthasteShardsUnowned: Object.fromEntries(
    Array.from({ length: 64 }, (_, shard) => [
      `posthaste_shard_owners{shard="${shard}"}`,
      shard === 63 ? "_x60 1x180" : "1x240",
    ]),
  ),
  PosthasteBacklog: { posthaste_lane_depth: gauge(50_000), posthaste_queue_depth: gauge(1) },
  PosthasteAttemptsFail: {
    'posthaste_attempts_total{outcome="refused"}': counter,
    'posthaste_attempts_total{outcome="delivered"}': "0+50x240",
  },
  PosthasteCannotCall: { 'posthaste_attempts_total{outcome="infrastructure"}': counter },
  PosthasteDeadLettersGrow: {
    'posthaste_messages_ended_total{end="failed"}': counter,
    // At its bound, the number of kept dead letters does not grow.
    posthaste_dead_letters: "100000x240",
  },
  PosthasteSsrfBlockedLate: { posthaste_ssrf_blocked_late_total: "0x40 1x200" },
  PosthasteSlotsLost: { 'posthaste_schedule_slots_total{result="failed"}': "0x40 1x200" },
  PosthasteRunsPastDue: { posthaste_run_oldest_past_due_seconds: gauge(61) },
  PosthasteRunsStall: { 'posthaste_run_stalls_total{role="plan"}': "0x40 1x200" },
  PosthasteRedisAway: { 'posthaste_tokens_total{what="refused"}': counter },
  PosthasteBusAway: { 'posthaste_bus_total{what="sendFailures"}': counter },
  PosthasteBusHandlersFail: { 'posthaste_bus_total{what="parked"}': counter },
  PosthasteFactsLost: { 'posthaste_bus_total{what="placesLost"}': "0x40 1x200" },
  PosthasteStoreSlow: above("posthaste_commit_seconds", "1"),
  PosthasteEventLoopBlocked: { 'posthaste_event_loop_delay_seconds{percentile="99"}': gauge(0.6) },
};

const files = join(import.meta.dirname, "../../../helm/posthaste/files");
const rules = join(files, "rules.yaml");
const composed = join(files, "compose/prometheus.yaml");
const describeRules = hasPrometheus() ? describe : describe.skip;

describeRules(
  `the rules${hasPrometheus() ? "" : " (not checked: this host has no promtool)"}`,
  () => {
    const folder = temporaryFolder();

    it("are rules to Prometheus", async () => {
      expect(await promtool(["check", "rules", rules])).toContain("SUCCESS");
    });

    it("are read by the Prometheus of Compose, whose configuration is one to it", async () => {
      const said = await promtool(["check", "config", "--syntax-only", composed]);

      expect(said).toContain("SUCCESS");
    });

    it.each(alerts)("$name fires in trouble and ends with it", async ({ name, for: holds }) => {
      const series = Object.entries(troubles[name] ?? {});
      const firing = `count(ALERTS{alertname="${name}",alertstate="firing"})`;
      const file = join(folder, `${name}.yaml`);
      const test = {
        interval: "1m",
        input_series: series.map(([metric, values]) => ({ series: metric, values })),
        promql_expr_test: [
          // The alert must not fire before its `for` has passed.
          ...(holds === "0s" ? [] : [{ expr: firing, eval_time: "0m", exp_samples: [] }]),
          { expr: firing, eval_time: firesAt, exp_samples: [{ labels: "{}", value: 1 }] },
          { expr: firing, eval_time: isWellAt, exp_samples: [] },
        ],
      };
      writeFileSync(
        file,
        stringify({ rule_files: [rules], evaluation_interval: "1m", tests: [test] }),
      );

      expect(await promtool(["test", "rules", file])).toContain("SUCCESS");
    });
  },
);
