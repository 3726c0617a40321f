/** Sorts the result of a ring by kind; each kind keeps its order, and a lane is named once. */
import { type LaneId, type MessageId, type MessageRecord } from "@posthaste/domain";
import { type Hint, type Rings, type Rung } from "@posthaste/ports";

export type RungByKind = {
  readonly hints: readonly Hint[];
  readonly lanes: readonly LaneId[];
  readonly fanOuts: readonly Omit<Extract<Rung, { kind: "fanOut" }>, "kind">[];
  readonly outboxes: readonly MessageId[];
  readonly followUps: readonly MessageRecord[];
  readonly more: Rings["more"];
};

export const byKind = ({ rung, more }: Rings): RungByKind => ({
  hints: ofKind(rung, "hint").map(({ hint }) => hint),
  lanes: [...new Set(ofKind(rung, "lane").map(({ lane }) => lane))],
  fanOuts: ofKind(rung, "fanOut").map(({ id, tenant }) => ({ id, tenant })),
  outboxes: ofKind(rung, "outbox").map(({ id }) => id),
  followUps: ofKind(rung, "followUp").map(({ record }) => record),
  more,
});

const ofKind = <K extends Rung["kind"]>(rung: readonly Rung[], kind: K) =>
  rung.filter((each): each is Extract<Rung, { kind: K }> => each.kind === kind);
