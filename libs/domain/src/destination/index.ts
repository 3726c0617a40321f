export { classify, networkOf, parseAddress } from "./address.ts";
export {
  type CheckedDestination,
  checkDestination,
  type DestinationUrl,
  isLoopbackName,
} from "./destination.ts";
export {
  hasScheme,
  invalidScheme,
  looksLikeHost,
  originHash,
  readUrl,
  refusedUrl,
  standardUrl,
} from "./url.ts";
export {
  addressRefusal,
  allowsLocalNames,
  type DestinationPolicy,
  destinationPolicy,
  type DestinationPolicySettings,
} from "./policy.ts";
