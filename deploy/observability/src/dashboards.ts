/** Renders the dashboards with Grafana's own library, in the classic model that every current Grafana reads. */
import {
  LegendDisplayMode,
  LegendPlacement,
  VizLegendOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { type Board, boards, type Panel, type Query } from "./panels.ts";

const datasource = { type: "prometheus", uid: "${datasource}" };
/** A metric that every process has. */
const everywhere = "posthaste_event_loop_delay_seconds";
const columns = 12;
const rows = 8;
const fillPercent = 10;

export const renderDashboards = (): ReadonlyMap<string, string> =>
  new Map(boards.map((board) => [`${board.name}.json`, JSON.stringify(dashboardOf(board))]));

function dashboardOf({ name, title, description, panels }: Board) {
  const builder = new DashboardBuilder(title)
    .uid(`posthaste-${name}`)
    .description(description)
    .tags(["posthaste"])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .refresh("30s")
    .time({ from: "now-1h", to: "now" })
    .withVariable(
      new DatasourceVariableBuilder("datasource").label("Prometheus").type("prometheus"),
    )
    .withVariable(among("job", `label_values(${everywhere}, job)`))
    .withVariable(among("instance", `label_values(${everywhere}{job=~"$job"}, instance)`));
  for (const panel of panels) builder.withPanel(panelOf(panel));
  return builder.build();
}

const among = (name: string, query: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .query(query)
    .datasource(datasource)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true)
    .includeAll(true)
    .current({ selected: true, text: ["All"], value: ["$__all"] });

function panelOf({ title, description, unit, queries }: Panel): PanelBuilder {
  const panel = new PanelBuilder()
    .title(title)
    .description(description)
    .datasource(datasource)
    .unit(unit)
    .min(0)
    .fillOpacity(fillPercent)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    )
    .span(columns)
    .height(rows);
  for (const [index, query] of queries.entries()) panel.withTarget(targetOf(query, index));
  return panel;
}

const targetOf = ({ expr, legend, exemplar = false }: Query, index: number): DataqueryBuilder =>
  new DataqueryBuilder()
    .refId(String.fromCharCode("A".charCodeAt(0) + index))
    .expr(expr)
    .legendFormat(legend)
    .exemplar(exemplar)
    .range();
