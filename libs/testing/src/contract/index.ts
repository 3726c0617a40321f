export { type ContractOptions, type Deviation } from "./guarantee.ts";
export { describeMessageStore } from "./message-store.ts";
export { type MessageStoreHarness } from "./message-store/harness.ts";
