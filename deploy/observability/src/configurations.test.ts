/** Tests the files of `compose/` and the dashboards against the documented schemas of their readers. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

const folder = dirname(import.meta.dirname);
const read = (file: string): unknown => parse(readFileSync(join(folder, file), "utf8"));
const ajv = new Ajv2020({ allErrors: true });

function expectValid(schema: object, document: unknown): void {
  ajv.validate(schema, document);
  expect(ajv.errorsText(ajv.errors)).toBe("No errors");
}

describe("is what its reader takes", () => {
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

describe("leads to what is there", () => {
  it("from each pipeline of the collector to its parts", () => {
    const { service, ...parts } = read("compose/collector.yaml") as Collector;

    for (const pipeline of Object.values(service.pipelines))
      for (const [kind, names] of Object.entries(pipeline))
        expect(Object.keys(parts[kind] ?? {})).toEqual(expect.arrayContaining([...names]));
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
