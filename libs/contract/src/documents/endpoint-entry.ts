/** What the table of endpoints says of one. */
import { type FaultCode } from "@posthaste/domain";
import type * as z from "zod";

export type EndpointEntry = {
  /** Absent: the gateway's, with a token. Management listens elsewhere and wants a user and a password. */
  readonly api?: "management";
  readonly method: "get" | "post" | "patch" | "delete";
  readonly path: string;
  readonly summary: string;
  readonly query?: ReadonlySet<string>;
  /** Takes the configuration headers and any bytes as its body. */
  readonly publishes?: true;
  readonly body?: z.ZodType;
  readonly answers: readonly {
    readonly status: number;
    readonly says: string;
    readonly schema?: z.ZodType;
  }[];
  /** Beside `faultsEverywhere`. */
  readonly faults: readonly FaultCode[];
};
