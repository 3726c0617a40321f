/** The scopes of tokens: what a token may do, as a rule over the kind of an operation and the queue that its path names. */
import { fault, type Fault } from "./fault.ts";
import { type TenantId } from "./ids.ts";

/**
 * `full` may do everything. `read` reads everything except the signing keys. `operate` reads as much, retries,
 * pauses, resumes and cancels. `publish` publishes and starts runs, and reads nothing. `queue:NAME` may do every
 * operation whose path names that queue, and nothing else.
 */
export type TokenScope = (typeof plainScopes)[number] | `${typeof queuePrefix}${string}`;

/** The right of a provider's group: the scope in which its members act for a tenant. */
export type GroupRight = { readonly tenant: TenantId; readonly scope: TokenScope };

const plainScopes = ["full", "operate", "read", "publish"] as const;
const queuePrefix = "queue:";

const queueScope = (queue: string): TokenScope => `${queuePrefix}${queue}`;

/** Matches the text of a scope. The name of a queue matches `isName` of the contract. */
export const tokenScopePattern = new RegExp(
  `^(?:${plainScopes.join("|")}|${queuePrefix}(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128})$`,
);

export const isTokenScope = (text: string): text is TokenScope => tokenScopePattern.test(text);

/** Returns the scope that `text` names. A scope of a newer build is read as `read`. */
export const tokenScopeFrom = (text: string): TokenScope => (isTokenScope(text) ? text : "read");

/**
 * The kinds of operations. `self` reads the token that is used, `secret` reads signing keys or tokens. An `act`
 * retries, pauses, resumes or cancels something that exists. A `write` changes anything else other than by
 * publishing.
 */
export type OperationKind = "self" | "list" | "read" | "secret" | "act" | "write" | "publish";

export const isChanging = (kind: OperationKind): boolean => kind === "act" || kind === "write";

export type Operation = {
  readonly kind: OperationKind;
  readonly queue?: string | undefined;
};

/** Returns the scopes that may do an operation, the widest first. Every scope may do operations of kind `self`. */
export function scopesFor({ kind, queue }: Operation): readonly TokenScope[] {
  const own = queue === undefined ? [] : [queueScope(queue)];
  switch (kind) {
    case "self":
      return [...plainScopes, ...own];
    case "list":
    case "read":
      return ["full", "operate", "read", ...own];
    case "act":
      return ["full", "operate", ...own];
    case "publish":
      return ["full", "publish", ...own];
    case "write":
      return ["full", ...own];
    case "secret":
      return ["full"];
  }
}

/** Refuses an operation that a token of this scope may not do, and names the scopes that may. */
export function refusalOfScope(held: TokenScope, operation: Operation): Fault | undefined {
  if (held === "full" || operation.kind === "self") return undefined;
  const needed = scopesFor(operation);
  if (needed.includes(held)) return undefined;
  return fault(
    "forbidden",
    `this needs a token of scope ${needed.join(" or ")}; the scope of this token is ${held}`,
  );
}
