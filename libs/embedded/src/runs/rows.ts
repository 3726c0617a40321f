/** The head of a run as the two texts of its row: what is fixed at its start, and what moves. */
import { crc32 } from "node:zlib";
import { type Run } from "@posthaste/domain";
import { integer, type Row, stored, text } from "../database/rows.ts";

type Moving = Pick<Run, "state" | "history" | "reached" | "version">;
type Fixed = Omit<Run, keyof Moving>;

export const headColumns = "json, crc, moving, moving_crc";

type Text = { readonly json: string; readonly crc: number };

const textOf = (value: Fixed | Moving): Text => {
  const json = JSON.stringify(value);
  return { json, crc: crc32(json) };
};

export const movingOf = ({ state, history, reached, version }: Run): Text =>
  textOf({ state, history, reached, version });

export function fixedOf(run: Run): Text {
  const { state: _, history: __, reached: ___, version: ____, ...fixed } = run;
  return textOf(fixed);
}

export const runFrom = (row: Row): Run => ({
  ...stored<Fixed>(whole(row, "json", "crc")),
  ...stored<Moving>(whole(row, "moving", "moving_crc")),
});

function whole(row: Row, json: string, crc: string): string {
  const found = text(row[json]);
  if (crc32(found) !== integer(row[crc])) throw new Error("the head of a run is damaged");
  return found;
}
