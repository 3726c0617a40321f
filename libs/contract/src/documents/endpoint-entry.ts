/** An endpoint in the form that the documents need, from whichever table. */
import { type FaultCode } from "@posthaste/domain";
import {
  type AnswerRow,
  type BodyRow,
  type EndpointKind,
  type QueryRow,
} from "../endpoints/endpoint.ts";

export type EndpointEntry = {
  readonly operation: string;
  /** Absent for the gateway's API, with a token. Management has another listener, and requires a user and a password. */
  readonly api?: "management";
  readonly method: "get" | "post" | "patch" | "delete";
  readonly path: string;
  readonly kind: EndpointKind;
  readonly summary: string;
  readonly query?: Pick<QueryRow<unknown>, "names">;
  readonly body?: Pick<BodyRow<unknown>, "schema">;
  /** Takes the configuration headers, and any bytes as its body. */
  readonly isRaw?: true;
  readonly answers: Readonly<Record<number, AnswerRow>>;
  readonly faults: readonly FaultCode[];
};
