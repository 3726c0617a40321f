/** The work of an endpoint: takes what its row allows the operator to ask, and returns what the row allows it to answer. */
import {
  type AnswerOf,
  type AskedOf,
  type EndpointSpec,
  type ManagementOperationId,
  type ManagementSpecs,
} from "@posthaste/contract";
import { type Fault } from "@posthaste/domain";

export type Work<Spec extends EndpointSpec, Answered = AnswerOf<Spec>> = (
  asked: AskedOf<Spec>,
) => Promise<Answered | Fault>;

export type Works<Ids extends ManagementOperationId> = {
  readonly [Id in Ids]: Work<ManagementSpecs[Id]>;
};
