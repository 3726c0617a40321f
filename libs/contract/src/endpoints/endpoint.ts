/**
 * An endpoint as a row: what it takes, answers and refuses. Router, types of the works, documents and the tests of
 * tokens are made from it.
 */
import { type Fault, type FaultCode, isFault, type Plan } from "@posthaste/domain";
import type * as z from "zod";
import { readQuery } from "../queries/query-values.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { badName, isName } from "../wire/text.ts";
import { type Seat } from "./seat.ts";

/**
 * A list or a read wants any token of the tenant, every other kind a full one. Under load lists are refused first, and publishes,
 * which alone ask whether the tenant's backlog has room, after all but what belongs to steps of runs.
 */
export type EndpointKind = "list" | "read" | "secret" | "write" | "publish";

export type QueryRow<Query> = {
  /** Every name that is taken; another one is refused. */
  readonly names: ReadonlySet<string>;
  /** `search` is what follows the `?`. */
  readonly parse: (search: string) => Query | Fault;
};

export type BodyRow<Body> = {
  /** For the documents. */
  readonly schema?: z.ZodType;
  /** 0: the body is not read. */
  readonly bytesMax: number;
  /** Where the plan of the tenant says how long it may be: no longer than `bytesMax`. */
  readonly bytesMaxBy?: (plan: Plan) => number;
  readonly parse: (bytes: Uint8Array) => Body | Fault;
};

export type AnswerRow = {
  readonly says: string;
  /** Absent: the body is empty. */
  readonly schema?: z.ZodType;
  /** What the schema says comes where it was asked for; else the body is empty. */
  readonly mayBeEmpty?: true;
  /** Read in seats of the room for long answers, and written as it is read: never held whole. */
  readonly inPieces?: true;
  /** What else it may say, beside its body: names and sentences. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Read in a seat of the room for long answers. */
  readonly isLarge?: true;
};

type AnswerRows = Readonly<Record<number, AnswerRow>>;

/** The types of one row. */
export type EndpointSpec = {
  readonly path: string;
  readonly query: unknown;
  readonly body: unknown;
  readonly answers: AnswerRows;
};

type Plain<Path extends string, Answers> = {
  readonly method: "get" | "post" | "patch" | "delete";
  /** As OpenAPI writes it: `/v2/messages/{messageId}`. */
  readonly path: Path;
  readonly kind: EndpointKind;
  readonly summary: string;
  /** Its work asks whether there is room, in the tenant's backlog and under load, when it knows what is exempt from that. */
  readonly asksForRoom?: true;
  /** Steps of runs ask it while they run: it is not refused under load. */
  readonly isOfStep?: true;
  /** Parameters of the path that must be names (docs/design/wire#targets). */
  readonly names?: readonly ParameterOf<Path>[];
  readonly answers: Answers;
  /** Beside `faultsEverywhere` and `malformed`, which each answers but those of events. */
  readonly faults: readonly FaultCode[];
};

export interface Endpoint<Spec extends EndpointSpec = EndpointSpec> extends Plain<
  Spec["path"],
  Spec["answers"]
> {
  readonly query: QueryRow<Spec["query"]>;
  readonly body: BodyRow<Spec["body"]>;
}

export type SpecOf<E> = E extends Endpoint<infer Spec> ? Spec : never;

/** `messageId` of `/v2/messages/{messageId}`. */
export type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

/** What a row's work is asked. */
export type AskedOf<Spec extends EndpointSpec> = {
  /** Decoded. */
  readonly param: (name: ParameterOf<Spec["path"]>) => string;
  readonly query: Spec["query"];
  readonly body: Spec["body"];
};

/** What a row's work answers: one of the row's statuses, and what the row says of it. */
export type AnswerOf<Spec extends EndpointSpec> = {
  [Status in keyof Spec["answers"] & number]: Shaped<Status, Spec["answers"][Status]>;
}[keyof Spec["answers"] & number];

type Shaped<Status extends number, Row> = Row extends { readonly inPieces: true }
  ? { readonly status: Status; readonly read: Reading<Pieces> }
  : Row extends { readonly isLarge: true; readonly schema: infer Schema extends z.ZodType }
    ? { readonly status: Status; readonly read: Reading<Whole<JsonOf<Schema>>> }
    : Row extends { readonly schema: infer Schema extends z.ZodType }
      ? | { readonly status: Status; readonly json: JsonOf<Schema> }
        | (Row extends { readonly mayBeEmpty: true } ? { readonly status: Status } : never)
      : { readonly status: Status };

/** Begun with a seat, which is taken again for each piece. */
type Reading<Read> = (seat: Seat) => Promise<Read | Fault>;

export type Pieces = (
  | {
      /** JSON text; a fault may come instead of the first. */
      readonly pieces: AsyncIterable<string | Fault>;
    }
  /** All of the answer, made in one seat. */
  | { readonly text: string }
) & {
  /** Names and values in turn. */
  readonly headers?: readonly string[];
};

type Whole<Json> = { readonly json: Json };

/** Any row's answer. */
export type Answer =
  | { readonly status: number; readonly read: Reading<Pieces | Whole<unknown>> }
  | { readonly status: number; readonly json?: unknown };

export function endpoint<
  const Path extends string,
  const Answers extends AnswerRows,
  Query = undefined,
  Body = undefined,
>(
  row: Plain<Path, Answers> & { readonly query?: QueryRow<Query>; readonly body?: BodyRow<Body> },
): Endpoint<{ path: Path; answers: Answers; query: Query; body: Body }>;
export function endpoint(row: object): object {
  return { query: noQuery, body: noBody, ...row };
}

const noNames: ReadonlySet<string> = new Set();
const noQuery: QueryRow<undefined> = {
  names: noNames,
  parse: (search) => {
    const values = readQuery(search, noNames);
    return isFault(values) ? values : undefined;
  },
};
const noBody: BodyRow<undefined> = { bytesMax: 0, parse: () => undefined };

/** A name that is none is refused by every endpoint that takes one: nothing can be called so. */
export function faultOfNames<Path extends string>(
  { names = [] }: Pick<Plain<Path, unknown>, "names">,
  param: (name: ParameterOf<Path>) => string,
): Fault | undefined {
  const bad = names.find((name) => !isName(param(name)));
  return bad === undefined ? undefined : badName(bad);
}
