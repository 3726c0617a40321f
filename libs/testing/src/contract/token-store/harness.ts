import { type TokenStore } from "@posthaste/ports";
import { type Closable, type Guarantee } from "../guarantee.ts";

export type TokenStoreHarness = Closable & {
  readonly tokens: TokenStore;
  /** The same tokens as another process sees them. */
  readonly other?: TokenStore;
  readonly now: () => number;
  readonly advance: (ms: number) => Promise<void>;
};

export type TokenGuarantee = Guarantee<TokenStoreHarness>;
