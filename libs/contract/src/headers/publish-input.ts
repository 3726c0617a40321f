import { type Dialect, type Headers, type TenantId } from "@posthaste/domain";
import { type NamedDestination } from "../destination/destination-target.ts";
import { type Bounds } from "./setting.ts";

/** name, value, name, value …, as Node gives them. An element of a batch makes its own from its `headers` object. */
export type FlatHeaders = readonly string[];

export type OverridesInput = Bounds & {
  readonly rawHeaders: FlatHeaders;
  /** Configuration given in the query, see `splitQueryConfig`. */
  readonly queryConfig?: FlatHeaders;
};

export type PublishInput = OverridesInput & {
  readonly destination: NamedDestination;
  /** The URL of the operator's provider; absent if there is none. */
  readonly llmUrl?: string | undefined;
  /** The queue that the target names. */
  readonly queue?: string | undefined;
  /** Returns the default headers of a group. Each applies if the request does not give its own. */
  readonly defaultsOf?: (group: string) => Headers | undefined;
  /** The caller checks its size. */
  readonly body: Uint8Array;
  readonly tenant: TenantId;
  /** Used when no header decides the dialect (docs/design/wire#dialects). */
  readonly defaultDialect: Dialect;
  readonly callerIp: string;
};
