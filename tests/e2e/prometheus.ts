/** A real Prometheus that reads the processes of a test every second, and what the dashboards and rules ask of it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "@jest/globals";
import { hasPrometheus, type RunningPrometheus, startPrometheus } from "@posthaste/local";
import { alerts, checkedInDashboards, recordings, renderRules } from "@posthaste/observability";

/** It may have to be fetched. */
export const fetchMsMax = 10 * 60_000;

/** Skipped, with the reason in its name, on a host that has no Prometheus and no way to get it. */
export function describeWithPrometheus(name: string, tests: () => void): void {
  if (hasPrometheus()) describe(name, tests);
  else describe.skip(`${name} (not checked: this host has no Prometheus)`, tests);
}

/** `ports`: of each service, where its metrics are. An alert fires as soon as what it looks for is true. */
export async function startScraping(
  ports: ReadonlyMap<string, number>,
): Promise<RunningPrometheus> {
  const dir = mkdtempSync(join(tmpdir(), "posthaste-prometheus-"));
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
  const prometheus = await startPrometheus({ dir, configuration });
  return {
    ...prometheus,
    stop: async () => {
      await prometheus.stop();
      rmSync(dir, { recursive: true });
    },
  };
}

/** As Grafana fills in what is selected, with everything selected and a window that holds some scrapes. */
const filledIn = (expression: string): string =>
  expression.replaceAll(/\$(?:job|instance)/g, ".+").replaceAll("$__rate_interval", "30s");

/** Of every panel and variable, and every number that a rule looks at. Grafana asks for `label_values` by their series. */
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

/** Those that have no answer, asked together. */
export async function unanswered(
  prometheus: RunningPrometheus,
  expressions: readonly string[],
): Promise<readonly string[]> {
  const answers = await Promise.all(
    expressions.map(async (expression) => ({
      expression,
      count: (await prometheus.ask(expression)).length,
    })),
  );
  return answers.filter(({ count }) => count === 0).map(({ expression }) => expression);
}

export async function firing(prometheus: RunningPrometheus): Promise<readonly string[]> {
  const found = await prometheus.ask('ALERTS{alertstate="firing"}');
  return found.map(({ metric }) => metric["alertname"] ?? "").toSorted();
}
