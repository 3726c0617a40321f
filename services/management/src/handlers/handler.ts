/** The handler of an endpoint: takes a request that its row allows the operator, and returns an answer that the row allows. */
import {
  type AnswerOf,
  type AskedOf,
  type EndpointSpec,
  type ManagementOperationId,
  type ManagementSpecs,
} from "@posthaste/contract";
import { type Fault } from "@posthaste/domain";

export type Handler<Spec extends EndpointSpec, Answered = AnswerOf<Spec>> = (
  asked: AskedOf<Spec>,
) => Promise<Answered | Fault>;

export type Handlers<Ids extends ManagementOperationId> = {
  readonly [Id in Ids]: Handler<ManagementSpecs[Id]>;
};
