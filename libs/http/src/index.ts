export { type Audit, createAudit } from "./audit.ts";
export { type Admission, createAdmission, type RequestKind } from "./admission/admission.ts";
export { answer, type FlatHeaders } from "./answers/answer.ts";
export { type AnswerStream } from "./answers/answer-limiter.ts";
export { type Answers, createAnswers, type Refusal } from "./answers/answers.ts";
export { withAnswerStream, withReadPermit } from "./answers/with-answer-stream.ts";
export { noteTraceOfFailure } from "./answers/trace-of-failure.ts";
export { listTexts } from "./answers/list-texts.ts";
export { type StreamedReply } from "./answers/streamed.ts";
export { askedOf } from "./asked.ts";
export {
  type Authenticator,
  type Caller,
  createAuthenticator,
  hashOfBearer,
} from "./authenticate/authenticator.ts";
export {
  developmentUsers,
  type DevelopmentUser,
  isPublicSecret,
  newSigningKey,
  newToken,
  tokenHash,
  tokenIdOf,
  userOf,
} from "./authenticate/credentials.ts";
export { createFailureLimit, networkOf } from "./authenticate/failure-limit.ts";
export { type BodyBudget, createBodyBudget, readBody } from "./bodies/body.ts";
export { addressSet, type AddressSet, callerIp } from "./caller-ip.ts";
export { createConsolePages } from "./console/console.ts";
export { createCursors, type Cursors } from "./cursor.ts";
export {
  connectionsMax,
  createEdge,
  type Edge,
  type FoundLimits,
  type RequestHandler,
} from "./edge/edge.ts";
export { isOfOtherOrigin, type Origins, singleHeader } from "./edge/request-head.ts";
export {
  type Attempt,
  type IdentityProvider,
  type ProviderSignIn,
  rightsOf,
  type SignInRefusal,
} from "./session/provider.ts";
export { hideSessions, sessionHeader } from "./session/cookies.ts";
export {
  createSessionHandler,
  sessionHasEnded,
  type SessionKeeper,
  refusalOfOtherOrigin,
} from "./session/session-handler.ts";
export { createSessions, type Session, type Sessions, shortSessionId } from "./session/sessions.ts";
export { inTurns, yieldToOthers, runToEnd } from "./turns.ts";
