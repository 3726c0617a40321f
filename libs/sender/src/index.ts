export { type Counts } from "./counts.ts";
export { type AddressRecord, createNameServer, type NameServer } from "./name-server.ts";
export { type Hosts } from "./names.ts";
export { type CountingSender, createSender, type SenderSettings } from "./sender.ts";
export { senderOf } from "./sender-of.ts";
