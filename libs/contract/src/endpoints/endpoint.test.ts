import { describe, expect, it } from "@jest/globals";
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

  it.each(Object.entries(rows).filter(([, { kind }]) => kind === "write" || kind === "publish"))(
    "is also the api of older clients where something is changed: %s",
    (_, row) => {
      expect(row.query.parse("api=llm")).toMatchObject({ fault: "malformed" });
    },
  );
});
