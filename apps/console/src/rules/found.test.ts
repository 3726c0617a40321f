import { expect, it } from "@jest/globals";
import { matching, placesOfUrl } from "./found.ts";

const found = (title: string) => ({ what: "Queue", title, to: `/queues/${title}` });

it("entries that contain a text are found, entries that begin with it first", () => {
  const all = ["e-mails", "mails", "Mail", "orders"].map(found);
  expect(matching(all, "mail").map(({ title }) => title)).toEqual(["mails", "Mail", "e-mails"]);
  expect(matching(all, "")).toHaveLength(4);
  expect(
    matching(
      Array.from({ length: 9 }, (_, nth) => found(`q${nth}`)),
      "q",
    ),
  ).toHaveLength(5);
});

it("a URL leads to the lists that have it as a filter, any other text to none", () => {
  expect(placesOfUrl("https://a.example/x?y=1").map(({ to }) => to)).toEqual([
    "/messages?url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1",
    "/dead-letters?url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1",
    "/runs?workflowUrl=https%3A%2F%2Fa.example%2Fx%3Fy%3D1",
  ]);
  expect(placesOfUrl("order-17")).toEqual([]);
});
