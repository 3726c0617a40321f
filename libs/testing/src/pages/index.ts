export { type Block, blocksOf } from "./blocks.ts";
export { unclaimedBlocks } from "./runners.ts";
