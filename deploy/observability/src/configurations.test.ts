/** Tests the files of `compose/` and the dashboards against the documented schemas of their readers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import {
  collectorSchema,
  dashboardSchema,
  datasourcesSchema,
  providersSchema,
  tempoSchema,
} from "./schemas.fixture.ts";

const root = join(import.meta.dirname, "../../..");
const folder = join(root, "helm/posthaste/files");
const read = (file: string): unknown => parse(readFileSync(join(folder, file), "utf8"));
const ajv = new Ajv2020({ allErrors: true });

function expectValid(schema: object, document: unknown): void {
  ajv.validate(schema, document);
  expect(ajv.errorsText(ajv.errors)).toBe("No errors");
}

describe("a configuration is accepted by its program", () => {
  it.each([
    ["compose/collector.yaml", collectorSchema],
    ["compose/tempo.yaml", tempoSchema],
    ["compose/datasources.yaml", datasourcesSchema],
    ["compose/dashboards.yaml", providersSchema],
  ])("%s", (file, schema) => expectValid(schema, read(file)));

  it.each(readdirSync(join(folder, "dashboards")))("dashboards/%s", (file) =>
    expectValid(dashboardSchema, read(`dashboards/${file}`)),
  );
});

const boards = readdirSync(join(folder, "dashboards")).map((file) => ({
  file,
  ...(read(`dashboards/${file}`) as Board),
}));

describe("a link of a configuration leads to an existing target", () => {
  it("from each pipeline of the collector to its parts", () => {
    const { service, ...parts } = read("compose/collector.yaml") as Collector;

    for (const pipeline of Object.values(service.pipelines))
      for (const [kind, names] of Object.entries(pipeline))
        expect(Object.keys(parts[kind] ?? {})).toEqual(expect.arrayContaining([...names]));
  });

  it.each(boards)(
    "from $file to the other dashboards, to the console, and to the failed attempts among the traces",
    ({ links, panels, templating }) => {
      const variables = templating.list.map(({ name }) => name);
      const urls = [...links, ...panels.flatMap((panel) => panel.links ?? [])].flatMap(
        ({ url }) => url ?? [],
      );
      const used = urls.flatMap((url) => [...url.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name));
      const explored = urls.find((url) => url.startsWith("/explore?")) ?? "";
      const panes = new URL(explored, "http://grafana").searchParams.get("panes") ?? "";

      expect(links.map(({ type }) => type)).toEqual(["dashboards", "link", "link"]);
      expect(urls).toContain("${console}");
      expect(variables).toEqual(
        expect.arrayContaining(used.filter((name) => !name?.startsWith("__"))),
      );
      expect(JSON.parse(panes)).toMatchObject({
        posthaste: { queries: [{ query: '{ name = "attempt" && status = error }' }] },
      });
    },
  );

  it("from alerts of messages, queues, lanes, runs and schedules to a page of the console", () => {
    const pages = boards.flatMap(({ panels }) =>
      panels.flatMap((panel) =>
        (panel.links ?? []).map(({ url = "" }) => url.replace("${console}#", "")),
      ),
    );
    const main = readFileSync(join(root, "apps/console/src/main.tsx"), "utf8");

    expect(new Set(pages).size).toBeGreaterThanOrEqual(6);
    expect(pages.filter((page) => !main.includes(`"${page}": page(`))).toEqual([]);
  });

  it("from a latency to the traces that Grafana knows", () => {
    const { datasources } = read("compose/datasources.yaml") as Sources;
    const uids = datasources.map(({ uid }) => uid);
    const wanted = datasources.flatMap(({ jsonData }) =>
      (jsonData?.exemplarTraceIdDestinations ?? []).map(({ datasourceUid }) => datasourceUid),
    );

    expect(wanted).toEqual(["tempo"]);
    expect(uids).toEqual(expect.arrayContaining(wanted));
  });
});

type Link = { readonly type: string; readonly url?: string };
type Board = {
  readonly links: readonly Link[];
  readonly panels: readonly { readonly links?: readonly Link[] }[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
type Names = readonly string[];
type Collector = {
  readonly service: {
    readonly pipelines: Readonly<Record<string, Readonly<Record<string, Names>>>>;
  };
} & Readonly<Record<string, object>>;
type Sources = {
  readonly datasources: readonly {
    readonly uid: string;
    readonly jsonData?: {
      readonly exemplarTraceIdDestinations: readonly { readonly datasourceUid: string }[];
    };
  }[];
};
