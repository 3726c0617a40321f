/** The handler of an endpoint: takes a request that its row allows, and returns an answer that the row allows. */
import {
  type AnswerOf,
  type AskedOf,
  type EndpointSpec,
  type GatewaySpecs,
  type OperationId,
  type ReadPermit,
} from "@posthaste/contract";
import { type Fault, type TokenScope } from "@posthaste/domain";
import { type Tenant } from "@posthaste/ports";

/** A request of an authenticated caller that has the right to ask. */
type Visit<Spec extends EndpointSpec> = AskedOf<Spec> & {
  readonly tenant: Tenant;
  readonly scope: TokenScope;
  /** Name, value, name, value …, for handlers that read configuration. */
  readonly rawHeaders: readonly string[];
  readonly callerIp: string;
  /** Runs `task` when the caller has disconnected, or has its answer. */
  readonly onGone: (task: () => void) => void;
  /** For a handler that reads before it knows its answer. */
  readonly withPermit: WithReadPermit;
};

export type WithReadPermit = <T>(read: (permit: ReadPermit) => Promise<T>) => Promise<T | Fault>;

export type Handler<Spec extends EndpointSpec, Answered = AnswerOf<Spec>> = (
  visit: Visit<Spec>,
) => Promise<Answered | Fault>;

export type Handlers<Ids extends OperationId> = {
  readonly [Id in Ids]: Handler<GatewaySpecs[Id]>;
};
