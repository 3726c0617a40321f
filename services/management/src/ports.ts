import {
  type Accounts,
  type Clock,
  type Log,
  type Random,
  type SearchIndexes,
} from "@posthaste/ports";

/** `accounts` and `indexes` opened: what management shows is not what the store sees. */
export type ManagementPorts = {
  readonly accounts: Accounts;
  readonly indexes: SearchIndexes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};
