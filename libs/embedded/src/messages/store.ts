import { type DatabaseSync } from "node:sqlite";
import { type RowSource } from "@posthaste/domain";
import { type Clock, type Log } from "@posthaste/ports";
import { type Alarms } from "../database/alarms.ts";
import { type Writer } from "../database/writer.ts";
import { type FanOutRows } from "../fan-outs.ts";
import { type Lanes } from "../lanes.ts";
import { type Letters } from "../dead-letters/rows.ts";
import { type EventCounts, type Events } from "../log/events.ts";
import { type QueueRows } from "../queues/rows.ts";
import { type Turns } from "../queues/turns.ts";
import { type RunAttempts } from "../runs/attempts.ts";
import { type TenantKeys } from "../tenants.ts";
import { type Terms } from "../terms.ts";
import { type SpentRows } from "../tokens/spent.ts";
import { type Windows } from "../tokens/windows.ts";
import { type Backlog, type Finished, type Recent } from "./in-memory.ts";
import { type Configurations } from "./configurations.ts";
import { type Keeping } from "./keeping.ts";
import { type Names } from "./positions.ts";
import { type Outbox } from "./outbox.ts";
import { type WholeRows } from "./whole.ts";

export type Store = {
  readonly db: DatabaseSync;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly tenants: TenantKeys;
  readonly names: Names;
  readonly configurations: Configurations;
  readonly terms: Terms;
  readonly wholes: WholeRows;
  readonly outbox: Outbox;
  readonly recent: Recent;
  /**
   * The positions of claimed records, among others: a walk through the live records needs them, and an index would
   * cost two writes a message. The tables of the set hold numbers only (ADR 11).
   */
  readonly claimed: Set<number>;
  readonly lanes: Lanes;
  readonly fanOuts: FanOutRows;
  readonly alarms: { readonly [Source in RowSource]: Alarms };
  readonly runAttempts: RunAttempts;
  readonly counts: EventCounts;
  readonly events: Events;
  readonly letters: Letters;
  readonly keeping: Keeping;
  readonly windows: Windows;
  readonly spent: SpentRows;
  readonly finished: Finished;
  readonly backlog: Backlog;
  readonly queues: QueueRows;
  readonly turns: Turns;
};
