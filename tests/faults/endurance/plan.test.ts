import { describe, expect, it } from "@jest/globals";
import { seededChance } from "../chance.ts";
import { leavesOf, planFaults, type Victim, type Way, waysMax } from "./plan.ts";

const deliverer: Victim = { name: "deliverer 1", service: "deliverer" };
const gateway: Victim = { name: "gateway 1", service: "gateway" };
const management: Victim = { name: "management 1", service: "management" };
const mongod: Victim = { name: "mongodb 1", store: "mongodb" };
const broker: Victim = { name: "kafka 1", store: "kafka" };
const redis: Victim = { name: "redis 1", store: "redis" };
const victims = [deliverer, gateway, management, mongod, broker, redis];

const named = (waysEach: number, seed: number): readonly string[] =>
  planFaults(victims, waysEach, seededChance(seed)).map(
    ({ victim, way, ms }) => `${victim.name} ${way} ${ms}`,
  );

describe("the faults of an endurance run", () => {
  it("hit each victim the given number of times, each time in another way", () => {
    for (let waysEach = 1; waysEach <= waysMax; waysEach++) {
      const planned = planFaults(victims, waysEach, seededChance(7));

      const pairs = new Set(planned.map(({ victim, way }) => `${victim.name} ${way}`));
      expect(planned).toHaveLength(victims.length * waysEach);
      expect(pairs.size).toBe(planned.length);
      expect(new Set(planned.map(({ victim }) => victim.name)).size).toBe(victims.length);
    }
  });

  it("use each kind of fault, however few the faults are", () => {
    const ways = new Set(planFaults(victims, 1, seededChance(7)).map(({ way }) => way));

    expect([...ways].toSorted()).toEqual(["cut off", "killed", "stopped"]);
  });

  it("are the same for the same seed", () => {
    expect(named(3, 7)).toEqual(named(3, 7));
    expect(named(3, 7)).not.toEqual(named(3, 8));
  });

  it.each<[Victim, Way, boolean, readonly string[]]>([
    [mongod, "killed", true, ["refuse", "repeat"]],
    [mongod, "cut off", true, ["refuse", "repeat"]],
    [mongod, "killed", false, []],
    [mongod, "cut off", false, []],
    [mongod, "stopped", false, []],
    [broker, "killed", true, []],
    [broker, "cut off", true, []],
    [redis, "stopped", true, ["refuse deduplicated", "forget"]],
    [redis, "killed", false, []],
    [gateway, "killed", false, ["break", "refuse"]],
    [gateway, "cut off", false, ["refuse", "refuse deduplicated"]],
    [deliverer, "killed", false, ["repeat"]],
    [deliverer, "stopped", false, ["repeat", "overlap"]],
    [deliverer, "cut off", false, ["repeat"]],
    [management, "stopped", false, []],
  ])("%j, %s (first: %j), excuses %j", (victim, way, isFirst, leaves) => {
    expect(leavesOf(victim, way, isFirst)).toEqual(leaves);
  });
});
