export {
  type DeadLetterFilter,
  type LiveFilter,
  type ListOrder,
  listOrders,
  type LogFilter,
  type MessageFilter,
  type PageRequest,
} from "./filter.ts";
export {
  type ActiveRunFilter,
  type FailedRunFilter,
  matchesFailedRun,
  matchesRun,
  type RunFilter,
} from "./run-filter.ts";
export { matchesLetter, matchesLive, matchesLogged, placeOfUrl } from "./matches.ts";
export { UnknownField } from "./terms.ts";
