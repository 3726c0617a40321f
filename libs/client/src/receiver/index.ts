export {
  expressHandler,
  fastifyHandler,
  fetchHandler,
  type LambdaAnswer,
  type LambdaEvent,
  lambdaHandler,
  nodeHandler,
} from "./adapters.ts";
export {
  type Answer,
  createReceiver,
  type Delivery,
  type Handler,
  type Incoming,
  NonRetryable,
  type Receiver,
  type ReceiverOptions,
  type Reply,
  RetryAfter,
} from "./receiver.ts";
export { type Claim, memoryStore, type SeenStore } from "./seen.ts";
export { type Claims, type Keys, type Signed, type Verdict, verifySignature } from "./signature.ts";
