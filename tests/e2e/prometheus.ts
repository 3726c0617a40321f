/**
 * Runs a real Prometheus that scrapes the processes of a test every second, and asks it for the expressions of the dashboards
 * and rules.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe } from "@jest/globals";
import { hasPrometheus, type RunningPrometheus, startPrometheus } from "@posthaste/local";
import { eventually, isFilled } from "./client.ts";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { alerts, checkedInDashboards, recordings, renderRules } from "@posthaste/observability";

/** Prometheus may have to be fetched. */
export const fetchMsMax = 10 * 60_000;

/** Skips the suite, with the reason in its name, on a host that has no Prometheus and cannot fetch it. */
export function describeWithPrometheus(name: string, tests: () => void): void {
  if (hasPrometheus()) describe(name, tests);
  else describe.skip(`${name} (not checked: this host has no Prometheus)`, tests);
}

/** `ports`: the metrics port of each service. Alerts fire as soon as their condition is true. */
export async function startScraping(
  ports: ReadonlyMap<string, number>,
): Promise<RunningPrometheus> {
  const dir = temporaryFolder();
  writeFileSync(join(dir, "rules.yaml"), renderRules("0s"));
  const jobs = [...ports].map(([service, port]) => ({
    job_name: `posthaste-${service}`,
    static_configs: [{ targets: [`127.0.0.1:${port}`] }],
  }));
  const configuration = JSON.stringify({
    global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
    rule_files: ["rules.yaml"],
    scrape_configs: jobs,
  });
  return await startPrometheus({ dir, configuration });
}

/** Fills in variables as Grafana does, with everything selected and a window that holds some scrapes. */
const filledIn = (expression: string): string =>
  expression.replaceAll(/\$(?:job|instance)/g, ".+").replaceAll("$__rate_interval", "30s");

/**
 * Returns the expression of every panel and variable, and every number that a rule checks. Grafana asks for `label_values` by
 * their series.
 */
export const askedByAll = (): readonly string[] => [
  ...new Set([
    ...checkedInDashboards().flatMap(({ expressions }) => expressions.map(filledIn)),
    ...checkedInDashboards().flatMap(({ variables }) =>
      variables.map((text) =>
        filledIn(text.replace(/^label_values\((.+), (\w+)\)$/, "count by ($2) ($1)")),
      ),
    ),
    ...alerts.map((alert) => alert.of),
    ...recordings.map(({ expr }) => expr),
  ]),
];

/** An expression that has an answer only while something is wrong. */
const answersOnlyInTrouble = ['absent(up{job=~"posthaste-(deliverer|standalone)"} == 1)'];

/** Metrics that stay 0 while all is well, or change too briefly to be seen. */
const zeroWhileWell = [
  /posthaste_log_left_total/,
  /posthaste_ssrf_blocked_late_total/,
  /posthaste_(run_)?oldest_past_due_seconds/,
  /posthaste_run_stalls_total/,
  /posthaste_attempts_waiting/,
  /^64 - count\(sum by \(shard\) \(posthaste_shard_owners\)/,
  /posthaste_bus_total\{what="placesLost"\}/,
  /outcome="infrastructure"/,
  /posthaste_schedule_slots_total\{result=~"failed\|skipped"\}/,
  /posthaste_tokens_total\{what=~"failed\|refused"\}/,
  /posthaste_bus_total\{what="sendFailures"\}/,
  /posthaste_bus_total\{what=~"handlerFailures\|parked"\}/,
];

/**
 * Returns the expressions without an answer, and those that stay 0, while `work` is repeated: not all need move at once. An
 * expression of `zeroWhileWell` needs only an answer.
 */
export async function silentAmong(
  prometheus: RunningPrometheus,
  expressions: readonly string[],
  work: () => Promise<void>,
): Promise<readonly string[]> {
  let silent = expressions.filter((text) => !answersOnlyInTrouble.includes(text));
  const mayBe = (text: string) => zeroWhileWell.some((pattern) => pattern.test(text));
  const until = Date.now() + silentMsMax;
  do {
    await work();
    await pause(scrapeEveryMs);
    const answers = await Promise.all(silent.map((expression) => prometheus.ask(expression)));
    silent = silent.filter((expression, at) => {
      const values = (answers[at] ?? []).map(({ value: [, text] }) => Number(text));
      return mayBe(expression) ? values.length === 0 : !values.some((value) => Math.abs(value) > 0);
    });
  } while (silent.length > 0 && Date.now() < until);
  return silent;
}

const scrapeEveryMs = 1_000;
/** A schedule fires once a minute. */
const silentMsMax = 150_000;

type Exemplars = {
  readonly exemplars: readonly { readonly labels: Readonly<Record<string, string>> }[];
};

/** Returns the trace that a bucket of the delivery latency leads to, once Prometheus has read an exemplar. */
export async function exemplarTrace(prometheus: RunningPrometheus): Promise<string | undefined> {
  const asked = new URLSearchParams({
    query: "posthaste_delivery_latency_seconds_bucket",
    start: "0",
    end: String(Math.ceil(Date.now() / 1_000) + 3_600),
  });
  const [first] = await eventually(
    async () =>
      (await prometheus.get(`query_exemplars?${asked.toString()}`)) as readonly Exemplars[],
    isFilled,
  );
  return first?.exemplars[0]?.labels["trace_id"];
}

export async function firing(prometheus: RunningPrometheus): Promise<readonly string[]> {
  const found = await prometheus.ask('ALERTS{alertstate="firing"}');
  return found.map(({ metric }) => metric["alertname"] ?? "").toSorted();
}
