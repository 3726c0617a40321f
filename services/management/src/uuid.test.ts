import { expect, it } from "@jest/globals";
import { seededRandom } from "@posthaste/testing";
import { newUuid } from "./uuid.ts";

it("a new id is a random UUID, and never the same", () => {
  const random = seededRandom(1);
  const ids = Array.from({ length: 100 }, () => newUuid(random));

  expect(new Set(ids).size).toBe(100);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
