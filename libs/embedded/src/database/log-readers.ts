/** Finds the other processes that read from the write-ahead log, by the locks in Linux's /proc/locks. Finds none on other systems. */
import { readFile, stat } from "node:fs/promises";

/** The bytes of the shared-memory file that SQLite locks for readers with a snapshot in the log (its WAL file format). */
const readLocks = { first: 124, last: 127 };

/**
 * Returns the ids of the processes that read the log of the database at `path`. Processes in another namespace have no id and are left
 * out.
 */
export async function logReaders(path: string): Promise<readonly number[]> {
  try {
    const [locks, { ino }] = await Promise.all([
      readFile("/proc/locks", "utf8"),
      stat(`${path}-shm`),
    ]);
    return readersIn(locks, ino).filter((pid) => pid !== process.pid);
  } catch {
    return [];
  }
}

/** Parses lines such as `7: POSIX  ADVISORY  READ 4711 fe:01:2623 124 124`. */
export function readersIn(locks: string, inode: number): readonly number[] {
  const pids = new Set<number>();
  for (const line of locks.split("\n")) {
    const [, , , , pid, file, first, last] = line.trim().split(/\s+/);
    if (Number(file?.split(":").at(-1)) !== inode) continue;
    const isRead = Number(first) <= readLocks.last && Number(last) >= readLocks.first;
    if (isRead && Number(pid) > 0) pids.add(Number(pid));
  }
  return [...pids];
}
