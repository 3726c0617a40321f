/**
 * An endpoint as a row: its parameters, answers and refusals. The router, the types of the handlers, the documents and
 * the tests of tokens are made from the row.
 */
import type * as z from "zod";
import {
  type Fault,
  type FaultCode,
  isFault,
  type OperationKind,
  type Plan,
  isChanging,
} from "@posthaste/domain";
import { type ReadPermit } from "./read-permit.ts";
import { readQuery } from "../queries/query-values.ts";
import { type JsonOf } from "../representations/schemas.ts";
import { badName, isName } from "../wire/text.ts";

/**
 * Says which scopes of tokens may call the endpoint (`scopesFor`). Under load lists are refused first. Publishes are
 * refused last, except those of steps of runs; only publishes check whether the tenant's backlog is full.
 */
export type EndpointKind = OperationKind;

export type QueryRow<Query> = {
  /** Every accepted name; any other is refused. */
  readonly names: ReadonlySet<string>;
  /** `search` is the text after the `?`. */
  readonly parse: (search: string) => Query | Fault;
};

export type BodyRow<Body> = {
  readonly schema?: z.ZodType;
  /** The longest body; 0 if the body is not read. */
  readonly bytesMax: number;
  /** Given if the tenant's plan bounds the body; at most `bytesMax`. */
  readonly bytesMaxBy?: (plan: Plan) => number;
  readonly parse: (bytes: Uint8Array) => Body | Fault;
};

export type AnswerRow = {
  readonly says: string;
  /** Absent if the body is empty. */
  readonly schema?: z.ZodType;
  /** The body comes only if it was asked for; otherwise it is empty. */
  readonly mayBeEmpty?: true;
  /** Whether the answer is read piece by piece, each with a permit, and written as it is read, never held whole. */
  readonly inPieces?: true;
  /** The optional headers of the answer: names, with a sentence for each. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the answer is read with a permit. */
  readonly isLarge?: true;
};

type AnswerRows = Readonly<Record<number, AnswerRow>>;

export type EndpointSpec = {
  readonly path: string;
  readonly query: unknown;
  readonly body: unknown;
  readonly answers: AnswerRows;
};

type Plain<Path extends string, Answers> = {
  readonly method: "get" | "post" | "patch" | "delete";
  /** The path as OpenAPI writes it: `/v2/messages/{messageId}`. */
  readonly path: Path;
  readonly kind: EndpointKind;
  readonly summary: string;
  /** Whether the handler itself checks the load and the tenant's backlog, once it knows which items are exempt. */
  readonly checksLoad?: true;
  /** Whether steps of runs call this while they run: then it is not refused under load. */
  readonly isOfStep?: true;
  /** Parameters of the path that must be names (docs/design/wire#targets). */
  readonly names?: readonly ParameterOf<Path>[];
  readonly answers: Answers;
  /** The faults beside `faultsEverywhere`, and beside `malformed`, which every endpoint returns except those of events. */
  readonly faults: readonly FaultCode[];
};

export interface Endpoint<Spec extends EndpointSpec = EndpointSpec> extends Plain<
  Spec["path"],
  Spec["answers"]
> {
  readonly query: QueryRow<Spec["query"]>;
  readonly body: BodyRow<Spec["body"]>;
  /** Reports whether a write is a change for the audit log. By default every write is. */
  isAudited?(query: Spec["query"]): boolean;
  /** Returns the name of the changed resource in the body, if the path has none. */
  namedBy?(body: Spec["body"]): string;
}

export type SpecOf<E> = E extends Endpoint<infer Spec> ? Spec : never;

/** `messageId` of `/v2/messages/{messageId}`. */
export type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

export type AskedOf<Spec extends EndpointSpec> = {
  /** Returns a parameter of the path, decoded. */
  readonly param: (name: ParameterOf<Spec["path"]>) => string;
  readonly query: Spec["query"];
  readonly body: Spec["body"];
};

/** The answer of a row's handler: one of the row's statuses, with the content that the row declares for it. */
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

/** Begins with a permit, which is taken again for each piece. */
type Reading<Read> = (permit: ReadPermit) => Promise<Read | Fault>;

export type Pieces = (
  | {
      /** JSON text. A fault may be yielded instead of the first piece. */
      readonly pieces: AsyncIterable<string | Fault>;
    }
  /** The whole answer, made with one permit. */
  | { readonly text: string }
) & {
  /** Names and values in turn. */
  readonly headers?: readonly string[];
};

type Whole<Json> = { readonly json: Json };

export type Answer =
  | { readonly status: number; readonly read: Reading<Pieces | Whole<unknown>> }
  | { readonly status: number; readonly json?: unknown };

export function endpoint<
  const Path extends string,
  const Answers extends AnswerRows,
  Query = undefined,
  Body = undefined,
>(
  row: Plain<Path, Answers> & {
    readonly query?: QueryRow<Query>;
    readonly body?: BodyRow<Body>;
    readonly isAudited?: (query: NoInfer<Query>) => boolean;
    readonly namedBy?: (body: NoInfer<Body>) => string;
  },
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

/** Refuses a text that cannot be a name, in every endpoint that takes a name. */
export function faultOfNames<Path extends string>(
  { names = [] }: Pick<Plain<Path, unknown>, "names">,
  param: (name: ParameterOf<Path>) => string,
): Fault | undefined {
  const bad = names.find((name) => !isName(param(name)));
  return bad === undefined ? undefined : badName(bad);
}

/** Reports whether a request is a change, for the audit log. Publishes and dry runs are not. */
export const isChange = <Spec extends EndpointSpec>(
  row: Pick<Endpoint<Spec>, "kind" | "isAudited">,
  query: Spec["query"],
): boolean => isChanging(row.kind) && !isDryRun(query) && (row.isAudited?.(query) ?? true);

const isDryRun = (query: unknown): boolean =>
  typeof query === "object" && query !== null && "dryRun" in query && query.dryRun === true;

/** Returns the name of the changed resource in the log: the path with its parameters filled in, and after it the name in the body if the row has one. */
export function resourceOf<Spec extends EndpointSpec>(
  row: Pick<Endpoint<Spec>, "path" | "namedBy">,
  params: Readonly<Record<string, string | readonly string[]>>,
  body: Spec["body"],
): string {
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? ""));
  const named = row.namedBy?.(body);
  return named === undefined ? path : `${path}/${named}`;
}
