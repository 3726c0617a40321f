/** Maps the hot row of a message to its record and back. */
import {
  alarmOf,
  type FollowUp,
  type Message,
  type MessageRecord,
  type MessageState,
  owner,
  ownFormat,
  type StateKind,
  unreachable,
} from "@posthaste/domain";
import { integer, optionalInteger, type Row, text } from "../database/rows.ts";
import { configurationColumns, configurationJoin } from "./configurations.ts";

/** Part of the schema, never renumbered. Live states are below 5. Codes 4 and 8 were states of fan-outs. */
export const stateCodes = {
  queued: -1,
  held: 0,
  waiting: 1,
  due: 2,
  claimed: 3,
  delivered: 5,
  failed: 6,
  canceled: 7,
} as const satisfies Record<StateKind, number>;
export const firstFinishedCode = stateCodes.delivered;
/** States below are live and not claimed. */
export const claimedCode = stateCodes.claimed;
const kindsByCode = {
  [-1]: "queued",
  0: "held",
  1: "waiting",
  2: "due",
  3: "claimed",
  5: "delivered",
  6: "failed",
  7: "canceled",
} as const satisfies { readonly [K in StateKind as (typeof stateCodes)[K]]: K };
const kinds: ReadonlyMap<number, StateKind> = new Map(
  Object.entries(kindsByCode).map(([code, kind]) => [Number(code), kind]),
);

export type StateColumns = {
  readonly code: number;
  readonly until: number | null;
  readonly hints: number;
  readonly owner: string | null;
};

export function columnsOf(state: MessageState): StateColumns {
  const code = stateCodes[state.kind];
  switch (state.kind) {
    case "held":
      return { code, until: state.dueAt, hints: state.waitMs ?? 0, owner: null };
    case "queued":
    case "waiting":
      return { code, until: null, hints: 0, owner: null };
    case "due":
      return { code, until: state.grantUntil ?? null, hints: state.hints, owner: null };
    case "claimed":
      return {
        code,
        until: state.leaseUntil,
        hints: state.renewed ? 1 : 0,
        owner: state.owner,
      };
    case "delivered":
    case "failed":
    case "canceled":
      return { code, until: state.endedAt, hints: 0, owner: null };
    default:
      return unreachable(state);
  }
}

const waitOf = (waitMs: number): { readonly waitMs?: number } => (waitMs > 0 ? { waitMs } : {});

function stateFrom(row: Row, { queue, flow }: Message): MessageState {
  const kind = kinds.get(integer(row["state"]));
  switch (kind) {
    case "queued":
      if (queue === undefined) throw new Error("a queued record has no queue");
      return { kind, queue };
    case "held":
      return { kind, dueAt: integer(row["until"]), ...waitOf(integer(row["hints"])) };
    case "waiting":
      if (flow === undefined) throw new Error("a waiting record has no lane");
      return { kind, flow };
    case "due": {
      const grantUntil = optionalInteger(row["until"]);
      return {
        kind,
        hints: integer(row["hints"]),
        ...(grantUntil !== undefined && { grantUntil }),
      };
    }
    case "claimed": {
      const leaseUntil = integer(row["until"]);
      const isRenewed = integer(row["hints"]) > 0;
      return {
        kind,
        owner: owner(text(row["owner"])),
        leaseUntil,
        ...(isRenewed && { renewed: true }),
      };
    }
    case "canceled": {
      const runsUntil = optionalInteger(row["runs_until"]);
      return {
        kind,
        endedAt: integer(row["until"]),
        ...(runsUntil !== undefined && { runsUntil }),
      };
    }
    case "delivered":
    case "failed":
      return { kind, endedAt: integer(row["until"]) };
    case undefined:
      throw new Error(`unknown state ${String(row["state"])} in the store`);
    default:
      return unreachable(kind);
  }
}

/** The condition that this build understands a row of messages, fan-outs or lanes. */
export const isKnownFormat = `format <= ${ownFormat}`;

/** The columns that `recordFrom` reads, from `messages` as m. */
const hotColumns = `m.position, m.name, m.tenant, m.state, m.until, m.hints, m.wake_at, m.epoch, m.owner,
  m.retried, m.lease_losses, m.deferrals, m.outbox, m.runs_until, m.told`;
export const recordColumns = `${hotColumns}, ${configurationColumns}, b.bytes, b.crc AS body_crc`;
export const recordTables = `messages m ${configurationJoin}
  LEFT JOIN bodies b ON b.position = coalesce(m.body_of, m.position)`;

/** The same without the body, which is then empty. */
export const bodilessColumns = `${hotColumns}, ${configurationColumns}, NULL AS bytes, NULL AS body_crc`;
export const bodilessTables = `messages m ${configurationJoin}`;

export const recordFrom = (
  row: Row,
  message: Message,
  outbox: readonly FollowUp[],
): MessageRecord => ({
  message,
  state: stateFrom(row, message),
  wakeAt: optionalInteger(row["wake_at"]),
  epoch: integer(row["epoch"]),
  retried: integer(row["retried"]),
  leaseLosses: integer(row["lease_losses"]),
  deferrals: integer(row["deferrals"]),
  outbox,
});

/** Returns the alarm as a column. `hasOutbox`: items are left in the store. */
export const alarmColumn = (state: MessageState, hasOutbox: boolean, now: number): number | null =>
  alarmOf(state, hasOutbox, now) ?? null;
