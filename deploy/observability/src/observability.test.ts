import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { metricCatalogue } from "@posthaste/ports";
import { alerts } from "./alerts.ts";
import { checkedInDashboards } from "./checked-in.ts";
import { recordings } from "./recordings.ts";

const repository = dirname(dirname(dirname(import.meta.dirname)));
const dashboards = checkedInDashboards();

const metricsIn = (expressions: readonly string[]): ReadonlySet<string> =>
  new Set(
    expressions.flatMap((text) =>
      [...text.matchAll(/\b(?:posthaste|process)_[a-z_]+/g)].map(([name]) =>
        name.replace(/_bucket$/, ""),
      ),
    ),
  );
const catalogue = Object.keys(metricCatalogue).toSorted();
const histogramNames = Object.entries(metricCatalogue).flatMap(([name, { kind }]) =>
  kind === "histogram" ? [name] : [],
);

describe("the dashboards", () => {
  const expressions = dashboards.flatMap((dashboard) => dashboard.expressions);

  it("show each metric of the catalogue, and none that is not in it", () => {
    expect([...metricsIn(expressions)].toSorted()).toEqual(catalogue);
  });

  it("show how many observations fell into each bucket of each histogram", () => {
    const shown = expressions.flatMap(
      (text) => /^sum by \(le\) \(increase\((\w+)_bucket/.exec(text)?.[1] ?? [],
    );

    expect(shown.toSorted()).toEqual(histogramNames.toSorted());
  });

  it("mark each deploy and each start of a process", () => {
    for (const { marks } of dashboards)
      expect(marks.map((mark) => [...metricsIn([mark])])).toEqual([
        ["posthaste_build_info"],
        ["process_start_time_seconds"],
      ]);
  });

  it("have names of their own, which links may keep", () => {
    expect(dashboards.map(({ uid }) => uid)).toEqual(
      dashboards.map(({ file }) => `posthaste-${file.replace(".json", "")}`),
    );
  });
});

describe("the rules", () => {
  it("use only metrics of the catalogue and recorded ones", () => {
    const rules = [...alerts.map((alert) => alert.of), ...recordings.map(({ expr }) => expr)];
    const records = recordings.map(({ record }) => record);
    const recorded = rules.flatMap((rule) =>
      [...rule.matchAll(/posthaste:[a-z0-9_:]+/g)].map(([name]) => name),
    );

    expect([...metricsIn(rules)].filter((name) => !catalogue.includes(name))).toEqual([]);
    expect(recorded.filter((name) => !records.includes(name))).toEqual([]);
  });

  it("have a section of the runbook for each alert, and the runbook has no other", () => {
    const runbook = readFileSync(join(repository, "docs/runbook.md"), "utf8");
    const sections = [...runbook.matchAll(/^## (Posthaste\w+)$/gm)].map(([, name]) => name);

    expect(sections).toEqual(alerts.map(({ name }) => name));
  });
});
