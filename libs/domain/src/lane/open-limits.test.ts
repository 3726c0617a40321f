import { describe, expect, test } from "@jest/globals";
import { type FlowId, type TenantId } from "../shared/ids.ts";
import { ownFormat } from "../shared/format.ts";
import { type Flow } from "./flow.ts";
import { openLimits } from "./open-limits.ts";
import { noPins } from "./pins.ts";

const limits = { parallelism: 2, periodMs: 1_000 };
const flow: Flow = {
  lane: "tenant/key" as FlowId,
  tenant: "tenant" as TenantId,
  key: "key",
  limits,
  shard: 0,
  format: 1,
};
const row = { limits, paused: false, pins: noPins };
const pinned = { parallelism: true, rate: false };

describe("the limits that a publish takes a slot by", () => {
  test.each([
    ["of a lane that has no row yet: its own", undefined, flow, limits],
    ["of one that is there", row, flow, limits],
    ["of one that is paused: none", { ...row, paused: true }, flow, undefined],
    ["of one of a later format: none", { ...row, format: ownFormat + 1 }, flow, undefined],
    [
      "of one whose limits it changes: none",
      row,
      { ...flow, limits: { ...limits, parallelism: 3 } },
      undefined,
    ],
    [
      "of one whose limits are pinned: those",
      { ...row, pins: pinned },
      { ...flow, limits: { ...limits, parallelism: 3 } },
      limits,
    ],
    [
      "where it brings a rate: none",
      undefined,
      { ...flow, limits: { ...limits, rate: 1 } },
      undefined,
    ],
    [
      "of one with a pinned rate: none",
      { ...row, limits: { ...limits, rate: 1 }, pins: { parallelism: false, rate: true } },
      flow,
      undefined,
    ],
  ])("%s", (_, standing, brought, expected) => {
    expect(openLimits(standing, brought)).toEqual(expected);
  });
});
