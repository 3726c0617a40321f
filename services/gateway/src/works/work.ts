/** The work of an endpoint: what its row lets a caller ask, and what the row lets it answer. */
import {
  type AnswerOf,
  type AskedOf,
  type EndpointSpec,
  type GatewaySpecs,
  type OperationId,
  type Seat,
} from "@posthaste/contract";
import { type Fault, type TokenScope } from "@posthaste/domain";
import { type Tenant } from "@posthaste/ports";

/** Of an authenticated caller with the right to ask. */
type Visit<Spec extends EndpointSpec> = AskedOf<Spec> & {
  readonly tenant: Tenant;
  /** Of the token. */
  readonly scope: TokenScope;
  /** name, value, name, value …: for the works that read configuration. */
  readonly rawHeaders: readonly string[];
  readonly callerIp: string;
  /** `task` runs when the caller has gone, or has its answer. */
  readonly onGone: (task: () => void) => void;
  /** For work that reads before it knows its answer. */
  readonly seated: Seated;
};

/** Runs `read` in a seat of the room for long answers, and returns what it returns. */
export type Seated = <T>(read: (seat: Seat) => Promise<T>) => Promise<T | Fault>;

export type Work<Spec extends EndpointSpec, Answered = AnswerOf<Spec>> = (
  visit: Visit<Spec>,
) => Promise<Answered | Fault>;

export type Works<Ids extends OperationId> = {
  readonly [Id in Ids]: Work<GatewaySpecs[Id]>;
};
