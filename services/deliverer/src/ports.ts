/** The ports of a deliverer. */
import {
  type AnnouncePorts,
  type FollowUpPorts,
  type Tenants,
  type TurnPorts,
} from "@posthaste/engine";
import {
  type MessageLog,
  type Random,
  type Records,
  type RetryDelays,
  type Roster,
  type RunStore,
  type Sender,
  type TokenStore,
} from "@posthaste/ports";

export type DelivererPorts = AnnouncePorts &
  FollowUpPorts &
  TurnPorts & {
    readonly records: Records;
    readonly runs: RunStore;
    readonly messageLog: Pick<MessageLog, "append">;
    readonly tokens: TokenStore;
    readonly sender: Sender;
    readonly tenants: Pick<Tenants, "find" | "get">;
    readonly random: Random;
    readonly retryDelays: RetryDelays;
    /** Absent where insert and delivery are one process: no gateway names a deliverer. */
    readonly roster?: Pick<Roster, "announce" | "leave">;
  };
