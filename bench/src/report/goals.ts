import { figure } from "./markdown.ts";

export type Goal = {
  readonly what: string;
  readonly measured: string;
  readonly met: "yes" | "no" | "not measured";
};

export function atLeast(what: string, value: number | undefined, least: number): Goal {
  return goal(`${what} ≥ ${least}`, value, (measured) => measured >= least);
}

export function atMost(what: string, value: number | undefined, most: number, unit = ""): Goal {
  return goal(`${what} ≤ ${most}${unit}`, value, (measured) => measured <= most);
}

function goal(what: string, value: number | undefined, isMet: (value: number) => boolean): Goal {
  if (value === undefined || !Number.isFinite(value)) {
    return { what, measured: "–", met: "not measured" };
  }
  return { what, measured: figure(value), met: isMet(value) ? "yes" : "no" };
}
