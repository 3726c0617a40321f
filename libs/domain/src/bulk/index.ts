export {
  advanced,
  type BulkAction,
  bulkBeginning,
  type BulkEnd,
  type BulkPlace,
  type BulkWork,
  bulkWorkText,
  deferredAction,
  isUnderWay,
  newBulkAction,
} from "./bulk-action.ts";
