export { parsePublish } from "./headers/parse-publish.ts";
export { type FlatHeaders, type PublishInput } from "./headers/publish-input.ts";
export {
  parseDestination,
  parseDestinationTarget,
  parsePublishTarget,
  type PublishTarget,
} from "./destination/publish-target.ts";
