export { expand } from "./expand.ts";
export {
  advanceTo,
  childOf,
  type Expanding,
  type FanOut,
  fanOutOf,
  type FanOutTarget,
  flowsOf,
  isExpanding,
  type Template,
} from "./fan-out.ts";
