/** The server's progress with the indexes of a collection, from its own reports. */
import { type Db } from "mongodb";

/** Resolves to "45 %" with the stage, or to undefined if nothing is being built or the user may not see it. */
export async function progressOf(db: Db, collection: string): Promise<string | undefined> {
  const building = { ns: `${db.databaseName}.${collection}`, msg: /^Index Build: / };
  try {
    const [found] = await db.client
      .db("admin")
      .aggregate([{ $currentOp: { allUsers: true } }, { $match: building }])
      .toArray();
    return found && shown(String(found["msg"]), found["progress"]);
  } catch {
    return undefined;
  }
}

/** Reads `Index Build: scanning collection Index Build: scanning collection: 91260/200000 45%`. Pure. */
export function shown(msg: string, progress: unknown): string | undefined {
  const stage = /^Index Build: (.+?)(?: Index Build: |:|$)/.exec(msg)?.[1];
  const { done, total } = { done: 0, total: 0, ...(typeof progress === "object" && progress) };
  if (stage === undefined || !(total > 0)) return stage;
  return `${Math.floor((100 * done) / total)} % (${stage})`;
}
