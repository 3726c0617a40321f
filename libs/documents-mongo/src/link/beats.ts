/**
 * The document that every process writes at each heartbeat, with the write concern of the inserts: a server may
 * answer `hello` and accept no write.
 */
import { type Collection } from "mongodb";

export type StoredBeat = {
  readonly _id: string;
  readonly count: number;
  /** The latest time that the server has reported; its clock may have been set back since. */
  readonly latest?: Date;
};

export const beatsName = "beats";
export const beatId = "beat";

export async function writeBeat(beats: Collection<StoredBeat>): Promise<void> {
  const count = { $add: [{ $ifNull: ["$count", 0] }, 1] };
  const latest = { $max: ["$latest", "$$NOW"] };
  await beats.updateOne({ _id: beatId }, [{ $set: { count, latest } }], { upsert: true });
}
