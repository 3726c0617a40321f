export { type Counts } from "./counts.ts";
export { type Hosts } from "./names.ts";
export { senderOf } from "./sender-of.ts";
