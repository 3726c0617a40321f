/** What the parts of the message store share. */
import { type DatabaseSync } from "node:sqlite";
import { type Clock, type Log } from "@posthaste/ports";
import { type Writer } from "../database/writer.ts";
import { type Lanes } from "../lanes.ts";
import { type Letters } from "../letters.ts";
import { type Events } from "../log/events.ts";
import { type TenantKeys } from "../tenants.ts";
import { type Windows } from "../tokens/windows.ts";
import { type Backlog } from "./backlog.ts";
import { type Configurations } from "./configurations.ts";
import { type Finished } from "./finished.ts";
import { type Names } from "./names.ts";
import { type Outbox } from "./outbox.ts";
import { type Recent } from "./recent.ts";

export type Rooms = {
  readonly db: DatabaseSync;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly tenants: TenantKeys;
  readonly names: Names;
  readonly configurations: Configurations;
  readonly outbox: Outbox;
  readonly recent: Recent;
  readonly lanes: Lanes;
  readonly events: Events;
  readonly letters: Letters;
  readonly windows: Windows;
  readonly finished: Finished;
  readonly backlog: Backlog;
};
