/** What a publish is made of, before it is understood. */
import { type Destination, type Dialect, type TenantId } from "@posthaste/domain";
import { type Bounds } from "./setting.ts";

/** name, value, name, value …: as Node gives them. An element of a batch makes its own of its `headers` object. */
export type FlatHeaders = readonly string[];

export type PublishInput = Bounds & {
  readonly rawHeaders: FlatHeaders;
  /** Configuration given in the query, see `parsePublishTarget`. */
  readonly queryConfig?: FlatHeaders;
  readonly destination: Destination;
  /** Its size is the caller's to check. */
  readonly body: Uint8Array;
  readonly tenant: TenantId;
  /** Used when no header says which (decisions.md 19). */
  readonly defaultDialect: Dialect;
  readonly callerIp: string;
};
