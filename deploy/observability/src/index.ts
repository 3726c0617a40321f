export { alerts } from "./alerts.ts";
export { renderDashboards } from "./dashboards.ts";
export { recordings } from "./recordings.ts";
export { renderRules } from "./rules.ts";
export { checkedInDashboards } from "./checked-in.ts";
