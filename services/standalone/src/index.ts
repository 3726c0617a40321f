export {
  createStandalone,
  type Standalone,
  type StandaloneOptions,
  type StandalonePorts,
} from "./standalone.ts";
