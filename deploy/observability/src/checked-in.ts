/** Reads the checked-in dashboards as Grafana does, with their queries. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Dashboard = {
  readonly uid: string;
  readonly templating: {
    readonly list: readonly { readonly type: string; readonly query?: string }[];
  };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
};

export type Asked = {
  readonly file: string;
  readonly uid: string;
  readonly expressions: readonly string[];
  readonly marks: readonly string[];
  /** `label_values(metric, label)` */
  readonly variables: readonly string[];
};

const folder = join(import.meta.dirname, "../../../helm/posthaste/files/dashboards");

export const checkedInDashboards = (): readonly Asked[] =>
  readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const { annotations, uid, panels, templating } = JSON.parse(text) as Dashboard;
    const marks = annotations.list.map(({ expr }) => expr);
    return {
      file,
      uid,
      expressions: [...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), ...marks],
      marks,
      variables: templating.list.flatMap(({ type, query }) =>
        type === "query" && query !== undefined ? [query] : [],
      ),
    };
  });
