import { expect, it } from "@jest/globals";
import { steady } from "./steady.ts";

type Row = { readonly id: string; readonly state: string };
const row = (id: string, state = "active"): Row => ({ id, state });
const keyOf = ({ id }: Row): string => id;

it("rows that are not held are the current rows", () => {
  expect(steady([row("b"), row("a")], [], keyOf)).toEqual({
    shown: [row("b"), row("a")],
    gone: new Set(),
    coming: 0,
  });
});

it("rows that are held keep their places: their values are updated, new rows wait, removed rows are marked", () => {
  const before = [row("a"), row("b"), row("c")];
  const now = [row("d"), row("a", "paused"), row("c")];

  expect(steady(now, before, keyOf)).toEqual({
    shown: [row("a", "paused"), row("b"), row("c")],
    gone: new Set(["b"]),
    coming: 1,
  });
});
