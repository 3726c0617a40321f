/** The record that the checks of runs read: every write that held, the answers to clients, and the work of the endpoints' code. */
import {
  type MessageId,
  type Run,
  type RunId,
  type RunKey,
  type RunPart,
  type TenantId,
} from "@posthaste/domain";
import { type Program } from "./program.ts";

/** A write of a head that held. `before` is undefined for the start. */
export type RunChange = {
  readonly node: string;
  readonly at: number;
  readonly before: Run | undefined;
  readonly after: Run;
  readonly parts: readonly RunPart[];
  /** The parts that a resumed run inherits from the failed one, apart from all entries. */
  readonly inherited?: { readonly of: RunKey; readonly names: readonly string[] };
};

/** The request for which the code of a step ran. */
export type Asking = {
  readonly id: MessageId;
  readonly node: string;
  readonly sentAt: number;
  readonly answeredAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly status: number | undefined;
};

export type Execution = {
  readonly root: MessageId;
  readonly step: number;
  readonly exchange: Asking;
};

/** A 2xx, whose content holds from then on. */
export type RunAck = {
  readonly root: MessageId;
  readonly what: "start" | "entry" | "call" | "wait" | "invoke" | "finish";
  readonly step: number;
};

/** An event of one request, whose body is the request's own. `run` is the run for which it is kept. */
export type Telling = {
  readonly body: string;
  readonly event: string;
  readonly tenant: TenantId;
  readonly run: RunId | undefined;
  /** Message ids of the results that the answer says were made. */
  reply: readonly MessageId[] | undefined;
};

export type Cancelling = {
  readonly tenant: TenantId;
  readonly id: RunId;
  readonly askedAt: number;
  answeredAt: number | undefined;
};

export class RunsSeen {
  readonly programs: Program[] = [];
  readonly changes = new Map<RunKey, RunChange[]>();
  readonly executions: Execution[] = [];
  readonly acks: RunAck[] = [];
  readonly tellings: Telling[] = [];
  readonly cancels: Cancelling[] = [];

  tell(tenant: TenantId, event: string, run: RunId | undefined): Telling {
    const body = `telling ${this.tellings.length}`;
    const telling: Telling = { body, event, tenant, run, reply: undefined };
    this.tellings.push(telling);
    return telling;
  }

  note(change: RunChange): void {
    const { key } = change.after;
    const known = this.changes.get(key);
    if (known) known.push(change);
    else this.changes.set(key, [change]);
  }
}
