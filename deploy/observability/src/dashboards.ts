/** Renders the dashboards with Grafana's own library, in the classic model that every current Grafana reads. */
import {
  BigValueColorMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  VizLegendOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import {
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  PanelBuilder as HeatmapBuilder,
  YAxisConfigBuilder,
} from "@grafana/grafana-foundation-sdk/heatmap";
import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as NumberBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as LinesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { type Board, boards, type Mark, marks, type Panel, type Query } from "./panels.ts";

const datasource = { type: "prometheus", uid: "${datasource}" };
/** A metric that every process has. */
const everywhere = "posthaste_event_loop_delay_seconds";
const size = { columns: 12, rows: 8 };
const numberSize = { columns: 4, rows: 4 };
const fillPercent = 10;
/** The console of a gateway on this machine. The chart replaces it by the release's. */
const consoleUrl = "http://127.0.0.1:8080/console/";

/** Grafana's page Explore, asking Tempo for failed attempts, which are all traced (ADR 199). */
const failedAttempts = exploring({
  datasource: "${traces}",
  range: { from: "${__from}", to: "${__to}" },
  queries: [
    {
      refId: "A",
      datasource: { type: "tempo", uid: "${traces}" },
      queryType: "traceql",
      query: '{ name = "attempt" && status = error }',
    },
  ],
});

/** Returns an address in Explore. Grafana fills in its variables, which must not be escaped. */
function exploring(pane: object): string {
  const panes = encodeURIComponent(JSON.stringify({ posthaste: pane }));
  return `/explore?schemaVersion=1&panes=${panes.replaceAll(/%24%7B(\w+)%7D/g, "${$1}")}`;
}

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
  builder
    .withVariable(new DatasourceVariableBuilder("traces").label("Traces").type("tempo"))
    .withVariable(new TextBoxVariableBuilder("console").label("Console").defaultValue(consoleUrl))
    .link(
      new DashboardLinkBuilder("Dashboards")
        .type(DashboardLinkType.Dashboards)
        .tags(["posthaste"])
        .asDropdown(true)
        .includeVars(true)
        .keepTime(true),
    )
    .link(linkTo("Console", "${console}"))
    .link(linkTo("Failed attempts", failedAttempts));
  for (const mark of marks) builder.annotation(annotationOf(mark));
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

const linkTo = (title: string, url: string): DashboardLinkBuilder =>
  new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url).targetBlank(true);

const annotationOf = ({ name, expr, title, text, isTime }: Mark): AnnotationQueryBuilder =>
  new AnnotationQueryBuilder()
    .name(name)
    .datasource(datasource)
    .enable(true)
    .iconColor(isTime ? "light-blue" : "purple")
    .expr(expr)
    .titleFormat(title)
    .textFormat(text)
    .useValueForTime(isTime);

function panelOf(panel: Panel): LinesBuilder | NumberBuilder | HeatmapBuilder {
  const { console, title, description, unit, queries } = panel;
  const builder = shownAs(panel).title(title).description(description).datasource(datasource);
  if (console !== undefined) builder.links([linkTo("Console", `\${console}#${console}`)]);
  for (const [index, query] of queries.entries()) {
    const target = targetOf(query, index);
    builder.withTarget(panel.kind === "heatmap" ? target.format(PromQueryFormat.Heatmap) : target);
  }
  return builder.unit(unit);
}

function shownAs(panel: Panel): LinesBuilder | NumberBuilder | HeatmapBuilder {
  switch (panel.kind) {
    case "lines":
      return lines();
    case "number":
      return number(panel.steps);
    case "heatmap":
      return new HeatmapBuilder()
        .color(new HeatmapColorOptionsBuilder().mode(HeatmapColorMode.Scheme))
        .yAxis(new YAxisConfigBuilder().unit(panel.unit))
        .span(size.columns)
        .height(size.rows);
  }
}

const lines = (): LinesBuilder =>
  new LinesBuilder()
    .min(0)
    .fillOpacity(fillPercent)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    )
    .span(size.columns)
    .height(size.rows);

function number(steps?: readonly [warning: number, trouble: number]): NumberBuilder {
  const colours = steps
    ? [
        { value: null, color: "green" },
        { value: steps[0], color: "orange" },
        { value: steps[1], color: "red" },
      ]
    : [{ value: null, color: "text" }];
  return new NumberBuilder()
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(["lastNotNull"]))
    .colorMode(BigValueColorMode.Value)
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(colours))
    .span(numberSize.columns)
    .height(numberSize.rows);
}

const targetOf = ({ expr, legend, exemplar = false }: Query, index: number): DataqueryBuilder =>
  new DataqueryBuilder()
    .refId(String.fromCharCode("A".charCodeAt(0) + index))
    .expr(expr)
    .legendFormat(legend)
    .exemplar(exemplar)
    .range();
