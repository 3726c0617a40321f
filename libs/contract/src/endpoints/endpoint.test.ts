import { describe, expect, it } from "@jest/globals";
import { isChanging } from "@posthaste/domain";
import { defaultPlan, type Fault, isFault } from "@posthaste/domain";
import { managementEndpoints } from "../management/index.ts";
import { type Endpoint } from "./endpoint.ts";
import { gatewayEndpoints } from "./index.ts";

const rows: Readonly<Record<string, Endpoint>> = { ...gatewayEndpoints, ...managementEndpoints };

describe("a name in the query that an endpoint does not know", () => {
  it.each(Object.entries(rows))("is refused by %s", (_, row) => {
    expect(row.query.parse("x=1")).toEqual({
      fault: "malformed",
      text: expect.stringMatching(/^unknown parameter "x"/),
    });
  });

  it.each(Object.entries(rows).filter(([, { kind }]) => isChanging(kind) || kind === "publish"))(
    "is also the api of older clients where something is changed: %s",
    (_, row) => {
      expect(row.query.parse("api=llm")).toMatchObject({ fault: "malformed" });
    },
  );
});

describe("an empty body", () => {
  const anObject = "body: must be a JSON object, and is empty";
  const wanting: Readonly<Record<string, string>> = {
    publishBatch: "body: must be a JSON array",
    triggerBatch: "body: must be a JSON array",
    upsertQueue: anObject,
    upsertEndpoints: anObject,
    removeEndpoints: anObject,
    configureGroup: anObject,
    waitForEvent: anObject,
    createTenant: anObject,
    createToken: anObject,
    enterSearchIndex: anObject,
    reportThroughput: anObject,
  };

  it("is accepted where JSON is optional, and elsewhere refused with the form of the required body", () => {
    const ofJson = Object.entries(rows).filter(([, { body }]) => body.schema);
    const refused = ofJson.flatMap(([id, { body }]) => {
      const fault = faultOf(body.parse(new Uint8Array()));
      return fault ? [[id, fault.text]] : [];
    });

    expect(Object.fromEntries(refused)).toEqual(wanting);
  });

  /** A reader in pieces reports its fault with the first piece. */
  function faultOf(made: unknown): Fault | undefined {
    if (isFault(made)) return made;
    if (isReader(made)) return faultOf(made(context));
    if (typeof made !== "object" || made === null) return undefined;
    if ("itemsIn" in made) return faultOf(made.itemsIn);
    return Symbol.iterator in made ? faultOf([...(made as Iterable<unknown>)][0]) : undefined;
  }
  const context = { plan: defaultPlan };
  const isReader = (made: unknown): made is (given: typeof context) => unknown =>
    typeof made === "function";
});
