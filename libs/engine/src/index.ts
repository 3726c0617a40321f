export { type AcceptPorts, publish, type Published } from "./accept.ts";
export { announce, hintOf, wakeLane } from "./announce.ts";
export { cancelMessages, type CancelPorts } from "./cancel.ts";
export { expandParent, type ExpandPorts } from "./fan-out.ts";
export { followUp, type FollowUpPorts, type Outbox, tellSettled } from "./follow-up.ts";
export { grant, type GrantPorts } from "./grant.ts";
export { originHash } from "./origin.ts";
export { readMessage } from "./read.ts";
export { type Background, ringOnce, type RingPorts } from "./ring.ts";
