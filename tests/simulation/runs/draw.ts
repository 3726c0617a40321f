import { type TenantId } from "@posthaste/domain";
import { type Dice } from "@posthaste/testing";
import { urlOf } from "../world/destination.ts";
import { type Part, type Program, type Step } from "./program.ts";

export const events = ["paid", "shipped"] as const;

/** `children` are the programs that this one may invoke. */
export function drawProgram(
  chance: Dice,
  index: number,
  tenant: TenantId,
  children: readonly number[],
): Program {
  const manner = chance.pick(["good", "good", "flaky", "slow"]);
  const draw = (): Step => drawStep(chance, children);
  const parts: Part[] = [];
  let from = 1;
  for (let left = chance.integer(1, 5); left > 0; left--) {
    const isGroup = chance.chance(0.3);
    const steps = isGroup ? Array.from({ length: chance.integer(2, 4) }, draw) : [draw()];
    parts.push({ from, isGroup, steps });
    from += steps.length;
  }
  return { index, tenant, url: `https://workflow-${manner}-${index}.example/run`, parts };
}

function drawStep(chance: Dice, children: readonly number[]): Step {
  const [child, ...others] = children;
  if (child !== undefined && chance.chance(0.33))
    return { kind: "invoke", program: chance.pick([child, ...others]) };
  switch (chance.pick(["code", "code", "sleep", "call", "wait", "wait", "notify"] as const)) {
    case "code": {
      const throws = chance.chance(0.15) ? chance.integer(1, 2) : 0;
      return chance.chance(0.05)
        ? { kind: "code", throws: Infinity, isFinal: chance.chance(0.5) }
        : { kind: "code", throws, isFinal: false };
    }
    case "sleep":
      return { kind: "sleep", ms: chance.integer(100, 20_000) };
    case "call":
      return {
        kind: "call",
        url: urlOf(chance.pick(["good", "good", "flaky", "bad", "slow"]), 5, "called"),
        retriesMax: chance.integer(0, 2),
      };
    case "wait":
      return {
        kind: "wait",
        event: chance.pick(events),
        timeoutMs: chance.integer(2_000, 60_000),
      };
    case "notify":
      return { kind: "notify", event: chance.pick(events) };
  }
}
