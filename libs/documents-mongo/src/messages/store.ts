/** The connection and collections that the parts of the message store share. */
import { type Collection } from "mongodb";
import { type Connection } from "../connection.ts";
import { type StoredFanOut } from "../fan-outs/stored-fan-out.ts";
import { type StoredLane } from "../lanes/stored-lane.ts";
import { type StoredBody } from "./stored-body.ts";
import { type StoredRecord } from "./stored.ts";

export type Store = Connection & {
  readonly messages: Collection<StoredRecord>;
  readonly bodies: Collection<StoredBody>;
  readonly lanes: Collection<StoredLane>;
  readonly fanOuts: Collection<StoredFanOut>;
  readonly token: () => string;
};

/** For a find with a bounded result: all in one reply, as far as a reply can hold it. */
export const inOneReply = { batchSize: 5_000 } as const;
