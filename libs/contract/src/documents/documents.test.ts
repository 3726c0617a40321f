import { describe, expect, it } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import * as z from "zod";
import { faultCatalogue } from "../faults/catalogue.ts";
import { headerRules } from "../headers/table.ts";
import { endpoints } from "./endpoints.ts";
import { renderErrors } from "./errors.ts";
import { renderOpenApi } from "./openapi.ts";
import { parameterRules } from "./parameters.ts";

describe("a fault on the wire", () => {
  it.each([
    ["malformed", 400],
    ["unauthorized", 401],
    ["forbidden", 403],
    ["not_found", 404],
    ["method_not_allowed", 405],
    ["conflict", 409],
    ["beyond_plan", 412],
    ["too_large", 413],
    ["too_many_requests", 429],
    ["headers_too_large", 431],
    ["internal", 500],
    ["overloaded", 503],
    ["outcome_unknown", 503],
    ["disk_full", 507],
  ] as const)("of %s has the status %i", (code, status) => {
    expect(faultCatalogue[code].status).toBe(status);
  });

  it("says when to come back wherever waiting helps", () => {
    const waiting = Object.values(faultCatalogue).filter(({ status }) =>
      [429, 503, 507].includes(status),
    );

    expect(waiting.every(({ retryAfter }) => (retryAfter ?? 0) > 0)).toBe(true);
  });
});

type Documented = {
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
};

describe("the documents", () => {
  const openApi = renderOpenApi();

  it("describe every endpoint, every query parameter and every header", () => {
    for (const { path } of endpoints) expect(openApi).toContain(JSON.stringify(path));
    for (const name of endpoints.flatMap(({ query }) => [...(query?.names ?? [])])) {
      expect(parameterRules).toHaveProperty(name);
    }
    for (const { suffix } of headerRules) expect(openApi).toContain(`"Service-${suffix}"`);
  });

  it("have a group for each operation, and an example of whatever it must be given", () => {
    const { paths, tags } = JSON.parse(openApi) as {
      readonly tags: readonly { readonly name: string }[];
      readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
    };
    const names = tags.map(({ name }) => name);

    for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
      expect(names).toEqual(expect.arrayContaining([...operation.tags]));
      for (const parameter of operation.parameters ?? [])
        if (parameter.required === true) expect(parameter).toHaveProperty("example");
      if (operation.requestBody)
        expect(operation.requestBody.content["application/json"]).toHaveProperty("example");
    }
  });

  it("are OpenAPI to a reader that is not ours, and every reference leads somewhere", async () => {
    const validator = new Validator();

    const { valid, errors } = await validator.validate(
      z.record(z.string(), z.unknown()).parse(JSON.parse(openApi)),
    );

    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe("3.1");
    expect(validator.resolveRefs()).toHaveProperty("paths");
  });

  it("hold no endpoint that changes something and is open to a token that may only read", () => {
    for (const { method, kind } of endpoints)
      expect(["act", "write", "publish"].includes(kind)).toBe(method !== "get");
  });

  it("list every fault and every endpoint", () => {
    const errors = renderErrors();

    for (const code of Object.keys(faultCatalogue)) expect(errors).toContain(`\`${code}\``);
    for (const { path } of endpoints) expect(errors).toContain(path);
  });
});
