/** What a publish is made of, before it is understood. */
import { type Dialect, type Headers, type TenantId } from "@posthaste/domain";
import { type NamedDestination } from "../destination/destination-target.ts";
import { type Bounds } from "./setting.ts";

/** name, value, name, value …: as Node gives them. An element of a batch makes its own of its `headers` object. */
export type FlatHeaders = readonly string[];

export type OverridesInput = Bounds & {
  readonly rawHeaders: FlatHeaders;
  /** Configuration given in the query, see `parsePublishTarget`. */
  readonly queryConfig?: FlatHeaders;
};

export type PublishInput = OverridesInput & {
  readonly destination: NamedDestination;
  /** Of the operator's provider; absent: there is none. */
  readonly llmUrl?: string | undefined;
  /** Named by the target. */
  readonly queue?: string | undefined;
  /** Of the group that it goes to: each counts where the request does not give its own. */
  readonly defaultsOf?: (group: string) => Headers | undefined;
  /** Its size is the caller's to check. */
  readonly body: Uint8Array;
  readonly tenant: TenantId;
  /** Used when no header says which (docs/design/wire#dialects). */
  readonly defaultDialect: Dialect;
  readonly callerIp: string;
};
