export {
  advanced,
  type BulkAction,
  bulkBeginning,
  type BulkEnd,
  type BulkPlace,
  type BulkWork,
  bulkWorkText,
  handedOn,
  isUnderWay,
  newBulkAction,
} from "./bulk-action.ts";
