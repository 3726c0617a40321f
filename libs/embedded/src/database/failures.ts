/** Classifies the failures of SQLite (https://sqlite.org/rescode.html). */
export type SqliteFailure =
  /** Another connection holds the lock. */
  | "busy"
  /** The disk, or the allowed number of pages, is used up. */
  | "full"
  /** The file is not as Posthaste wrote it. */
  | "damaged"
  /** The disk or the system failed: the content of the disk is unknown until the file is opened again. */
  | "broken"
  /** A bug of this package: a constraint, a type, a statement. */
  | "ours";

/** Returns undefined when the error is not SQLite's. */
export function sqliteCode(error: unknown): SqliteFailure | undefined {
  if (!Error.isError(error) || !("errcode" in error) || typeof error.errcode !== "number")
    return undefined;
  switch (error.errcode & primaryCodeMask) {
    case 5:
    case 6:
      return "busy";
    case 13:
      return "full";
    case 11:
    case 26:
      return "damaged";
    case 7:
    case 8:
    case 10:
    case 14:
      return "broken";
    default:
      return "ours";
  }
}

const primaryCodeMask = 0xff;
