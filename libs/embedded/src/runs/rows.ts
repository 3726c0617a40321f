/** The head of a run as two texts of its row: the fixed part and the moving part. */
import { crc32 } from "node:zlib";
import {
  type EntryDelivery,
  type MessageId,
  positionOf,
  type Run,
  type RunPart,
  type TenantId,
  TextCache,
} from "@posthaste/domain";
import { requireKnownFormat } from "@posthaste/ports";
import {
  integer,
  optionalBytes,
  optionalInteger,
  optionalText,
  type Row,
  stored,
  text,
} from "../database/rows.ts";

type Moving = Pick<
  Run,
  "state" | "adoption" | "marks" | "history" | "bytes" | "reached" | "heirs" | "version"
>;
type Fixed = Omit<Run, keyof Moving>;

/** Returns the key of a run: the position of its root. */
export function positionOfRun(root: MessageId): number {
  const position = positionOf(root);
  if (position === undefined) throw new Error(`the root of a run is not a random id: ${root}`);
  return position;
}

export const headColumns = "json, crc, moving, moving_crc";

type Text = { readonly json: string; readonly crc: number };

const textOf = (value: Fixed | Moving): Text => {
  const json = JSON.stringify(value);
  return { json, crc: crc32(json) };
};

/** Splits a head into what is fixed at the start, and what a change writes anew. */
function split(run: Run): { readonly fixed: Fixed; readonly moving: Moving } {
  const { state, adoption, marks, history, bytes, reached, heirs, version, ...fixed } = run;
  const moving = {
    ...{ state, history, bytes, reached, version },
    ...(adoption && { adoption }),
    ...(marks && { marks }),
    ...(heirs && { heirs }),
  };
  return { fixed, moving };
}

export const fixedOf = (run: Run): Text => textOf(split(run).fixed);

export const runFrom = (row: Row): Run =>
  requireKnownFormat({
    ...stored<Fixed>(whole(row, "json", "crc")),
    ...stored<Moving>(whole(row, "moving", "moving_crc")),
  });

/** A run is read a step after it was written: about as many runs at once, of the usual length. */
const keptTexts = { entriesMax: 1_000, lengthMax: 4_096 };

/** Keeps the heads of recent reads and writes by their texts, which then need no check and no parsing. */
export class HeadTexts {
  readonly #fixed = new TextCache<Fixed>(keptTexts);
  readonly #moving = new TextCache<Moving>(keptTexts);

  read(row: Row): Run {
    return requireKnownFormat({
      ...known(this.#fixed, row, "json", "crc"),
      ...known(this.#moving, row, "moving", "moving_crc"),
    });
  }

  /** Returns the moving text of a run that is written, and keeps it. */
  movingOf(run: Run): Text {
    const { moving } = split(run);
    const written = textOf(moving);
    this.#moving.set(written.json, moving);
    return written;
  }
}

function known<T extends Fixed | Moving>(
  texts: TextCache<T>,
  row: Row,
  json: string,
  crc: string,
): T {
  const kept = texts.get(text(row[json]));
  if (kept) return kept;
  const found = whole(row, json, crc);
  const parsed = stored<T>(found);
  texts.set(found, parsed);
  return parsed;
}

function whole(row: Row, json: string, crc: string): string {
  const found = text(row[json]);
  if (crc32(found) !== integer(row[crc])) throw new Error("the head of a run is damaged");
  return found;
}

export const termOf = (
  tenant: TenantId,
  kind: "alias" | "label" | "flow" | "url",
  value: string,
): string => `${tenant}/${kind}:${value}`;

/** Returns the terms by which lists find a run without looking at all runs. */
export function termsOf({ aliases = [], plan, tenant, url }: Run): ReadonlySet<string> {
  const { flow, labels } = plan.policy;
  return new Set([
    termOf(tenant, "url", url),
    ...aliases.map((id) => termOf(tenant, "alias", id)),
    ...labels.map((label) => termOf(tenant, "label", label)),
    ...(flow ? [termOf(tenant, "flow", flow.key)] : []),
  ]);
}

export const partColumns = "name, rank, at, crc, sent, bytes";

export function partFrom(row: Row): RunPart {
  const rank = optionalInteger(row["rank"]);
  const sent = optionalText(row["sent"]);
  return {
    name: text(row["name"]),
    at: integer(row["at"]),
    body: bodyOf(row),
    ...(rank !== undefined && { rank }),
    ...(sent !== undefined && { sent: stored<EntryDelivery>(sent) }),
  };
}

export function bodyOf(row: Row): Uint8Array {
  const body = optionalBytes(row["bytes"]) ?? noBody;
  if (crc32(body) !== integer(row["crc"])) throw new Error("a part of a run is damaged");
  return body;
}

const noBody = new Uint8Array(0);
