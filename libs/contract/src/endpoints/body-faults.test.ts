/** Bodies that are nearly valid, for every endpoint that reads one: each is read, or refused by a text that names the mistake. */
import { describe, expect, it } from "@jest/globals";
import { isFault } from "@posthaste/domain";
import * as fc from "fast-check";
import * as z from "zod";
import { parseContext } from "../headers/publish-input.fixture.ts";
import { fuzzRuns, hostileText } from "../hostile.fixture.ts";
import { type BatchContext } from "./batch.ts";
import { type Endpoint } from "./endpoint.ts";
import { gatewayEndpoints } from "./index.ts";
import { managementEndpoints } from "../management/index.ts";

const right = {
  ...{ destination: "https://a.example", headers: { A: "b" }, body: "{}", queue: "q" },
  ...{ workflowUrl: "https://a.example", workflowRunId: "r", url: "https://a.example" },
  ...{ step: { stepId: 1 }, timeout: "1d", workflowRunIds: ["wfr_1"], messageIds: ["msg_1"] },
  ...{ dlqIds: ["1-msg_1"], endpoints: [{ url: "https://a.example" }], parallelism: 1 },
};
const pieces = [...'" \\ \\u0000 \\ud800 { } [ ] , : 1e400 null é'.split(" ")];

function fieldsOf(schema: z.ZodType | undefined): readonly string[] {
  if (!schema) return [];
  const { items, properties } = z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });
  const ofItems = typeof items === "object" && !Array.isArray(items) ? items.properties : {};
  return [...Object.keys(properties ?? {}), ...Object.keys(ofItems ?? {})];
}

function bodiesFor(fields: readonly string[]): fc.Arbitrary<string> {
  const known = Object.entries(right).filter(([name]) => fields.includes(name));
  const wrong = fc.oneof(fc.json({ maxDepth: 3 }), hostileText(pieces, 6));
  const name = fc.oneof(fc.constantFrom("__proto__", "constructor", ...fields), fc.string());
  const one = fc.tuple(name, wrong).map(([key, value]) => {
    const members = known.map(([each, given]) => `"${each}":${JSON.stringify(given)}`);
    return `{${[...members, `${JSON.stringify(key)}:${value}`].join(",")}}`;
  });
  const cut = fc.tuple(one, fc.nat(60)).map(([text, length]) => text.slice(0, length));
  const many = fc.array(one, { maxLength: 3 }).map((all) => `[${all.join(",")}]`);
  return fc.oneof({ arbitrary: one, weight: 3 }, { arbitrary: many, weight: 3 }, cut, wrong);
}

/** Yields every value that a reader makes of a body, to its end. */
function* madeOf(made: unknown): Generator<unknown> {
  yield made;
  if (isFault(made) || made instanceof Uint8Array) return;
  if (typeof made === "function")
    yield* madeOf((made as (given: BatchContext) => unknown)(parseContext));
  if (typeof made !== "object" || made === null) return;
  if (Symbol.iterator in made) yield* made as Iterable<unknown>;
  if ("itemsIn" in made) yield* madeOf(made.itemsIn);
  if ("destinations" in made) yield* madeOf(made.destinations);
}

const reading = Object.entries<Pick<Endpoint, "body">>(gatewayEndpoints).filter(
  ([, { body }]) => body.bytesMax > 0,
);

describe("a body that is nearly right", () => {
  it.each(reading)("for %s is read, or refused by its place", (_, { body }) => {
    const fields = fieldsOf(body.schema);
    const places = new RegExp(`^(body|unknown parameter|\\[\\d+\\]|${fields.join("|") || "body"})`);
    fc.assert(
      fc.property(bodiesFor(fields), (text) => {
        const made = [...madeOf(body.parse(Buffer.from(text)))];
        for (const fault of made.filter(isFault)) expect(fault.text).toMatch(places);
        expect(made.filter(isFault).length).toBeLessThanOrEqual(1);
      }),
      { seed: 1, numRuns: Math.ceil(fuzzRuns / 12) },
    );
  });
});

const ofJson = Object.entries<Pick<Endpoint, "body">>({
  ...gatewayEndpoints,
  ...managementEndpoints,
}).filter(([, { body }]) => body.schema !== undefined);
/** A step of a run is its client's own JSON: an unknown field must not end the run. */
const ofSteps = ["waitForEvent"];
const ofOurs = ofJson.filter(([id]) => !ofSteps.includes(id));

const refusals = (body: Endpoint["body"], text: string): readonly string[] =>
  [...madeOf(body.parse(Buffer.from(text)))].filter(isFault).map((fault) => fault.text);

type JsonSchema = z.core.JSONSchema.JSONSchema;
const jsonSchema = (schema: z.ZodType = z.any()): JsonSchema =>
  z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });

/** Yields each object in a body with the text before and after it, and its place; not objects whose names the caller chooses. */
function* objectsIn(
  schema: JsonSchema,
  before = "",
  behind = "",
  place = "",
): Generator<{
  readonly schema: JsonSchema;
  readonly with: (member: string) => string;
  readonly place: string;
}> {
  const { anyOf = [], items, properties } = schema;
  for (const each of anyOf) yield* objectsIn(each, before, behind, place);
  if (typeof items === "object" && !Array.isArray(items))
    yield* objectsIn(items, `${before}[`, `]${behind}`, `${place}[0]`);
  if (!properties) return;
  yield { schema, with: (member) => `${before}{${member}}${behind}`, place };
  for (const [name, value] of Object.entries(properties))
    if (typeof value === "object")
      yield* objectsIn(value, `${before}{"${name}":`, `}${behind}`, `${place}.${name}`);
}

describe("an unknown field of a JSON body", () => {
  const objects = ofOurs.flatMap(([id, { body }]) =>
    [...objectsIn(jsonSchema(body.schema))].map((object) => ({ id, body, ...object })),
  );

  it.each(objects)("for $id is refused by its name at $place", ({ body, place, ...object }) => {
    const known = Object.keys(object.schema.properties ?? {});
    const at = place.replace(/^\./, "") || "body";

    for (const name of ["zzz", "__proto__"]) {
      const [said = "", ...others] = refusals(body, object.with(`"${name}":1`));
      expect(said).toMatch(
        /^unknown parameter/.test(said) ? /^/ : new RegExp(`^${RegExp.escape(at)}: `),
      );
      expect(said).toContain(`"${name}"; known names: ${known.join(", ")}`);
      expect(others).toEqual([]);
    }
    expect(object.schema.additionalProperties).toBe(false);
  });

  it.each([
    ["upsertQueue", '{"queuName":"q"}', "queueName"],
    ["upsertQueue", '{"queue_name":"q"}', "queueName"],
    ["changeTenant", '{"plan":{"groupMax":1}}', "groupsMax"],
    ["cancelMessages", '{"lable":"x"}', "label"],
    ["cancelRuns", '{"workflowRunId":["wfr_1"]}', "workflowRunIds"],
    ["cancelRuns", '{"workflowurl":"https://a.b"}', "workflowUrl"],
  ])("for %s is answered with the nearest known one: %s", (id, text, nearest) => {
    const body = ofJson.find(([each]) => each === id)?.[1].body;

    expect(body && refusals(body, text)).toEqual([
      expect.stringMatching(new RegExp(`; did you mean ${nearest}\\?$`)),
    ]);
  });

  it("is answered without a nearest one if none is near, or its own name is long", () => {
    const { body } = gatewayEndpoints.upsertQueue;

    for (const name of ["delay", `queueName${"x".repeat(100_000 / 2)}`])
      expect(refusals(body, `{"${name}":1}`)).toEqual([
        expect.not.stringContaining("did you mean"),
      ]);
  });
});

describe("a duplicate name in a JSON body", () => {
  it.each(ofOurs)("for %s refuses it by its place", (_, { body }) => {
    const { type } = jsonSchema(body.schema);
    const [opens, closes, place] = type === "array" ? ["[", "]", "[0]."] : ["", "", ""];
    const of = (members: string): string => `${opens}{${members}}${closes}`;

    expect(refusals(body, of('"url":"a","url":"a"'))).toEqual([
      `${place}url: must not occur twice`,
    ]);
    expect(refusals(body, of('"headers":{"retries":[{"a":1},{"a":1,"\\u0061":2}]}'))).toEqual([
      `${place}headers.retries[1].a: must not occur twice`,
    ]);
  });

  it.each(ofSteps)("for %s lets the last one count", (id) => {
    const body = ofJson.find(([each]) => each === id)?.[1].body;
    const step = '{"url":"https://a.b","step":{"stepId":1,"a":1,"stepId":2}}';

    expect(body?.parse(Buffer.from(step))).toMatchObject({ step: { stepId: 2, a: 1 } });
  });
});

describe("a JSON body that selects the runs to cancel", () => {
  // An empty text is the beginning of every URL.
  it.each([
    ['{"workflowUrl":""}', "workflowUrl: must not be empty"],
    ['{"workflowRunIds":[""]}', "workflowRunIds[0]: must not be empty"],
  ])("has no empty text: %s is refused", (text, fault) => {
    expect(refusals(gatewayEndpoints.cancelRuns.body, text)).toEqual([fault]);
  });
});
