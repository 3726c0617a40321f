import { type Spread } from "../statistics.ts";

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Returns three significant digits with grouped thousands, or a dash for a figure that was not measured. */
export function figure(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en-US", {
    minimumFractionDigits: Math.min(digits, 2),
    maximumFractionDigits: Math.min(digits, 3),
  });
}

export const spread = (of: Spread | undefined): string =>
  of === undefined ? "–" : `${figure(of.median)} (${figure(of.min)}–${figure(of.max)})`;
