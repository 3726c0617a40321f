import { stringify } from "yaml";
import { type Alert, alerts } from "./alerts.ts";
import { recordings } from "./recordings.ts";

/** `holds` replaces the time for which each alert must hold. */
export const renderRules = (holds?: string): string =>
  stringify(
    {
      groups: [
        { name: "posthaste-recordings", rules: recordings },
        { name: "posthaste-alerts", rules: alerts.map((alert) => ruleOf(alert, holds)) },
      ],
    },
    { lineWidth: 0 },
  );

const ruleOf = (alert: Alert, holds = alert.for) => ({
  alert: alert.name,
  expr: alert.when === undefined ? alert.of : `(${alert.of}) ${alert.when}`,
  for: holds,
  labels: { severity: alert.severity },
  annotations: {
    summary: alert.summary,
    runbook: `docs/runbook.md#${alert.name.toLowerCase()}`,
  },
});
