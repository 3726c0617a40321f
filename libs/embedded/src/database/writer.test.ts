import { describe, expect, it } from "@jest/globals";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { newDirectory } from "../opened.fixture.ts";
import { type Connection, Writer, type WriterOptions } from "./writer.ts";

const open = (given: Partial<WriterOptions> = {}) => {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  return { db, writer: writerOn(db, given), put: (id: number) => put(db, id) };
};
const writerOn = (db: Connection, given: Partial<WriterOptions> = {}): Writer =>
  new Writer(db, {
    schedule: setImmediate,
    after: later,
    makeRoom: () => false,
    afterCommit: () => undefined,
    fatal: () => undefined,
    ...given,
  });
const later = (ms: number, task: () => void): (() => void) => {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
};
const turn = () => new Promise((resolve) => setImmediate(resolve));
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await turn();
};
const put = (db: DatabaseSync, id: number) => (): number => {
  db.prepare("INSERT INTO notes (id, text) VALUES (?, 'a note')").run(id);
  return id;
};
const ids = (db: DatabaseSync) =>
  Array.from(db.prepare("SELECT id FROM notes ORDER BY id").all(), ({ id }) => id);
const outcomes = async (promises: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(promises)).map((settled) =>
    settled.status === "fulfilled" ? settled.value : codeOf(settled.reason),
  );
const codeOf = (reason: unknown): unknown =>
  Error.isError(reason) ? ("code" in reason ? reason.code : reason.message) : reason;

describe("group commit", () => {
  it("a hundred writes of one turn are one commit", async () => {
    const { writer, put } = open();

    await Promise.all(Array.from({ length: 100 }, (_, i) => writer.write(put(i), "accepted")));

    expect(writer.commits).toBe(1);
  });

  it("no caller is answered before the commit that holds its write", async () => {
    const { db, writer, put } = open();
    const seen: boolean[] = [];

    const written = writer.write(put(1), "accepted");
    await written.then(() => seen.push(db.isTransaction, writer.commits === 1));

    expect(seen).toEqual([false, true]);
  });

  it("writes take effect in the order of their calls, and so do the reads among them", async () => {
    const { db, writer, put } = open();

    const [before, , after] = await Promise.all([
      writer.read(() => ids(db)),
      writer.write(put(1), "accepted"),
      writer.read(() => ids(db)),
    ]);

    expect([before, after]).toEqual([[], [1]]);
  });

  it("reading alone commits nothing", async () => {
    const { db, writer } = open();

    await writer.read(() => ids(db));

    expect(writer.commits).toBe(0);
  });

  it("more writes than one transaction may hold are carried out all the same", async () => {
    const { db, writer, put } = open();

    await Promise.all(Array.from({ length: 3_000 }, (_, i) => writer.write(put(i), "accepted")));

    expect(ids(db)).toHaveLength(3_000);
    expect(writer.commits).toBe(3);
  });

  it("is bounded by its records and by its bytes, and an operation that is larger goes alone", async () => {
    const { db, writer, put } = open();
    const mebibyte = 1024 * 1024;
    const weights = [
      ...Array.from({ length: 6 }, () => ({ records: 400, bytes: 0 })),
      ...Array.from({ length: 4 }, () => ({ records: 1, bytes: 5 * mebibyte })),
      { records: 5_000, bytes: 100 * mebibyte },
    ];

    await Promise.all(weights.map((weight, i) => writer.write(put(i), "new", weight)));

    expect(ids(db)).toEqual(weights.map((_, i) => i));
    // Three commits of twice 400 records, the third also with 5 MiB; three of 5 MiB each; and the largest alone.
    expect(writer.commits).toBe(7);
  });
});

describe("work for which nothing waits", () => {
  /** `pass` lets the time pass that such work waits at most. */
  const openTimed = () => {
    const timers: (() => void)[] = [];
    const after = (_: number, task: () => void) => {
      timers.push(task);
      return () => void timers.splice(timers.indexOf(task), 1);
    };
    return { ...open({ after }), pass: () => timers.splice(0).forEach((task) => task()) };
  };

  it("joins the next transaction, and comes before the reads of that", async () => {
    const { db, writer, put } = openTimed();
    const waiting = writer.write(put(1), "patient");
    await turn();
    expect(ids(db)).toEqual([]);

    const seen = await writer.read(() => ids(db));
    const more = [writer.write(put(2), "patient"), writer.write(put(3), "accepted")];

    expect([seen, await outcomes([waiting, ...more])]).toEqual([[1], [1, 2, 3]]);
    expect(writer.commits).toBe(2);
  });

  it("has a transaction of its own once it has waited", async () => {
    const { db, pass, writer, put } = openTimed();
    const waiting = [writer.write(put(1), "patient"), writer.write(put(2), "patient")];

    pass();

    expect(await outcomes(waiting)).toEqual([1, 2]);
    expect([ids(db), writer.commits]).toEqual([[1, 2], 1]);
  });

  it("does not hold up a read of committed data", async () => {
    const { db, writer, put } = openTimed();
    void writer.write(put(1), "patient");

    expect(await writer.glance(() => ids(db))).toEqual([]);
    expect(writer.commits).toBe(0);
  });

  it("is carried out by close", async () => {
    const { writer, put } = openTimed();
    const waiting = writer.write(put(1), "patient");

    await writer.close();

    expect(await outcomes([waiting])).toEqual([1]);
  });
});

describe("a write that throws", () => {
  it("is rejected alone: its neighbours are carried out in the same commit", async () => {
    const { db, writer, put } = open();
    const half = (): void => {
      put(7)();
      throw new Error("no");
    };

    const told = await outcomes([
      writer.write(put(1), "accepted"),
      writer.write(half, "accepted"),
      writer.write(put(2), "accepted"),
    ]);

    expect(told).toEqual([1, "no", 2]);
    expect(ids(db)).toEqual([1, 2]);
    expect(writer.commits).toBe(1);
  });

  it("leaves no trace in memory either, and the others leave theirs once", async () => {
    const { writer, put } = open();
    const effects: string[] = [];
    const noting = (name: string, work: () => unknown) => () => {
      writer.onCommit(() => effects.push(name));
      return work();
    };

    await outcomes([
      writer.write(noting("good", put(1)), "accepted"),
      writer.write(
        noting("bad", () => put(1)()),
        "accepted",
      ),
    ]);

    expect(effects).toEqual(["good"]);
  });
});

describe("a queue that is full", () => {
  it("refuses new work at half of the bound of accepted work", async () => {
    const { writer } = open({ schedule: () => undefined });
    const told: unknown[] = [];
    const note = (reason: unknown): void => void told.push(codeOf(reason));

    for (let n = 0; n < 32_768; n++) writer.write(() => n, "new").catch(note);
    await writer.write(() => "new", "new").catch(note);
    for (let n = 0; n < 32_768; n++) writer.write(() => n, "accepted").catch(note);
    await writer.write(() => "in hand", "accepted").catch(note);

    expect(told).toEqual(["overloaded", "overloaded"]);
  });
});

describe("a disk that is full", () => {
  const fill = (given: Partial<WriterOptions> = {}) => {
    const db = new DatabaseSync(join(newDirectory(), "full.db"));
    db.exec(
      "PRAGMA journal_mode = WAL; CREATE TABLE blobs (bytes BLOB); PRAGMA max_page_count = 40",
    );
    const big = db.prepare("INSERT INTO blobs VALUES (zeroblob(?))");
    return {
      db,
      writer: writerOn(db, given),
      put: (bytes: number) => () => Number(big.run(bytes).changes),
    };
  };

  it("refuses new work with disk_full, and accepted work continues", async () => {
    const { writer, put } = fill();

    const told = await outcomes([
      writer.write(put(10), "accepted"),
      writer.write(put(1_000_000), "new"),
      writer.write(put(10), "new"),
      writer.write(put(10), "accepted"),
    ]);

    expect(told).toEqual([1, "disk_full", "disk_full", 1]);
  });

  it("refuses work that has turned out to take on something new, and gives up no reserve for it", async () => {
    let store = 0;
    const makeRoom = () => (store++, false);
    const { writer, put } = fill({ makeRoom });
    const takingOn = () => {
      writer.takeOn();
      return put(1_000_000)();
    };

    const told = await outcomes([
      writer.write(takingOn, "accepted"),
      writer.write(put(10), "accepted"),
    ]);

    expect([told, store]).toEqual([["disk_full", 1], 0]);
  });

  it("gives up the reserve for work in hand, and not for new work", async () => {
    let room = 0;
    const { db, writer, put } = fill({
      makeRoom: () => {
        room++;
        db.exec("PRAGMA max_page_count = 4000");
        return room === 1;
      },
    });

    const asNew = await outcomes([writer.write(put(1_000_000), "new")]);
    const roomForNew = room;
    const inHand = await outcomes([writer.write(put(1_000_000), "accepted")]);

    expect(asNew).toEqual(["disk_full"]);
    expect(roomForNew).toBe(0);
    expect(inHand).toEqual([1]);
    expect(room).toBe(1);
  });

  it("refuses accepted work, too, when the freed space is not enough, and reads continue", async () => {
    let store = 1;
    const { db, writer, put } = fill({ makeRoom: () => store-- > 0 });

    const told = await outcomes([
      writer.write(put(1_000_000), "accepted"),
      writer.read(() => db.isOpen),
    ]);

    expect(told).toEqual(["disk_full", true]);
  });

  it("keeps the store usable: writes that fit succeed afterwards", async () => {
    const { writer, put } = fill();

    await outcomes([writer.write(put(1_000_000), "accepted")]);

    expect(await outcomes([writer.write(put(10), "accepted")])).toEqual([1]);
  });

  it("that is noticed only at the commit refuses new work and carries out the rest", async () => {
    const { db, put } = open();
    const full = failingAtCommit(db, 13, 2);
    const writer = writerOn(full);

    const told = await outcomes([writer.write(put(1), "new"), writer.write(put(2), "accepted")]);

    expect(told).toEqual(["disk_full", 2]);
    expect(ids(db)).toEqual([2]);
  });
});

describe("a sync that failed", () => {
  it("acknowledges nothing, takes nothing more, and is reported once", async () => {
    const { db, put } = open();
    const fatal: Error[] = [];
    const writer = writerOn(failingAtCommit(db, 1034, 1), { fatal: (error) => fatal.push(error) });

    const told = await outcomes([writer.write(put(1), "accepted"), writer.write(put(2), "new")]);
    const later = await outcomes([writer.write(put(3), "accepted"), writer.read(() => 1)]);

    expect(told).toEqual(["unavailable", "unavailable"]);
    expect(later).toEqual(["unavailable", "unavailable"]);
    expect(fatal).toHaveLength(1);
    expect(ids(db)).toEqual([]);
  });

  it("is as final when it follows a write that was left out", async () => {
    const { db, put } = open();
    const fatal: Error[] = [];
    const writer = writerOn(failingAtCommit(db, 1034, 1), { fatal: (error) => fatal.push(error) });
    const bad = (): never => {
      throw new Error("no");
    };

    const told = await outcomes([writer.write(bad, "accepted"), writer.write(put(1), "accepted")]);

    expect(told).toEqual(["unavailable", "unavailable"]);
    expect(fatal).toHaveLength(1);
  });

  it("at a checkpoint ends the store, too", async () => {
    const fatal: Error[] = [];
    const { writer, put } = open({
      afterCommit: () => {
        throw Object.assign(new Error("disk I/O error"), { errcode: 1034 });
      },
      fatal: (error) => fatal.push(error),
    });

    expect(await outcomes([writer.write(put(1), "accepted")])).toEqual([1]);
    expect(await outcomes([writer.write(put(2), "accepted")])).toEqual(["unavailable"]);
    expect(fatal.map(codeOf)).toEqual(["unavailable"]);
  });
});

describe("a database that another program has locked", () => {
  it("refuses writes while the lock is held, and continues when it is released", async () => {
    const path = join(newDirectory(), "locked.db");
    const db = new DatabaseSync(path);
    db.exec(
      "PRAGMA journal_mode = WAL; CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    );
    const other = new DatabaseSync(path);
    const writer = writerOn(db);
    other.exec("BEGIN IMMEDIATE");

    expect(await outcomes([writer.write(put(db, 1), "accepted")])).toEqual(["unavailable"]);
    other.exec("ROLLBACK");

    expect(await outcomes([writer.write(put(db, 2), "accepted")])).toEqual([2]);
    expect(ids(db)).toEqual([2]);
  });
});

describe("closing", () => {
  it("carries out earlier writes and refuses later ones", async () => {
    const { db, writer, put } = open();

    const asked = writer.write(put(1), "accepted");
    await writer.close();

    expect(await asked).toBe(1);
    expect(ids(db)).toEqual([1]);
    expect(await outcomes([writer.write(put(2), "accepted")])).toEqual(["unavailable"]);
  });
});

function failingAtCommit(db: DatabaseSync, errcode: number, times: number): Connection {
  let left = times;
  return {
    get isTransaction() {
      return db.isTransaction;
    },
    exec: (sql) => {
      if (sql === "COMMIT" && left-- > 0)
        throw Object.assign(new Error("as if the disk said so"), { errcode });
      db.exec(sql);
    },
  };
}

describe("the sync of a commit", () => {
  const heldSync = () => {
    const held: ((error: Error | null) => void)[] = [];
    const sync = {
      run: () =>
        new Promise<void>((resolve, reject) => {
          held.push((error) => (error ? reject(error) : resolve()));
        }),
      runNow: () => undefined,
      close: () => undefined,
    };
    return { held, sync };
  };

  it("is complete before any caller is answered, and before another transaction begins", async () => {
    const { held, sync } = heldSync();
    const { db, writer, put } = open({ sync });
    const told: string[] = [];

    void writer.write(put(1), "accepted").then(() => told.push("first"));
    await turns(3);
    void writer.write(put(2), "accepted").then(() => told.push("second"));
    void writer.read(() => ids(db)).then((seen) => told.push(`read ${String(seen)}`));
    await turns(3);
    expect([told, ids(db)]).toEqual([[], [1]]);
    held.shift()?.(null);
    await turns(3);
    expect([told, ids(db)]).toEqual([["first"], [1, 2]]);
    held.shift()?.(null);
    await turns(3);
    expect(told).toEqual(["first", "second", "read 1,2"]);
  });

  it("has been waited for by the oldest that waits: for the sync itself, also when another waits for the next", async () => {
    const { held, sync } = heldSync();
    const { writer, put } = open({ sync });
    expect(writer.waitMs).toBe(0);

    const first = writer.write(put(1), "accepted");
    await turns(2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const waitedAlone = writer.waitMs;
    const second = writer.write(put(2), "accepted");
    const waitedBefore = writer.waitMs;
    held.shift()?.(null);
    await first;
    await turns(2);
    held.shift()?.(null);
    await second;

    expect(waitedAlone).toBeGreaterThanOrEqual(19);
    expect(waitedBefore).toBeGreaterThanOrEqual(19);
    expect(writer.waitMs).toBe(0);
  });

  it("that fails ends the store: no caller that waited for it is answered, and nothing is taken any more", async () => {
    const { held, sync } = heldSync();
    const failures: Error[] = [];
    const { writer, put } = open({ sync, fatal: (error) => void failures.push(error) });

    const waiting = writer.write(put(1), "accepted");
    await turns(2);
    const behind = writer.write(put(2), "accepted");
    held.shift()?.(new Error("EIO"));

    expect(await outcomes([waiting, behind])).toEqual(["unavailable", "unavailable"]);
    expect(await outcomes([writer.write(put(3), "accepted")])).toEqual(["unavailable"]);
    expect(failures).toHaveLength(1);
  });

  it("is not waited for by redoable work, nor made for redoable work alone", async () => {
    const { held, sync } = heldSync();
    const { writer, put } = open({ sync });
    const told: string[] = [];

    void writer.write(put(1), "redoable").then(() => told.push("alone"));
    await turns(3);
    expect([told, held.length]).toEqual([["alone"], 0]);
    void writer.write(put(2), "redoable").then(() => told.push("redoable"));
    void writer.write(put(3), "accepted").then(() => told.push("accepted"));
    await turns(3);
    expect([told, held.length]).toEqual([["alone", "redoable"], 1]);
    held.shift()?.(null);
    await turns(3);
    expect(told).toEqual(["alone", "redoable", "accepted"]);
  });

  it("is followed by one commit for the writes that waited and those of the callers that it answers", async () => {
    const { held, sync } = heldSync();
    const { db, writer, put } = open({ sync });
    const first = writer.write(put(1), "accepted");
    void first.then(turn).then(() => writer.write(put(2), "accepted"));
    await turns(2);
    void writer.write(put(3), "accepted");

    held.shift()?.(null);
    await turns(3);

    expect([writer.commits, ids(db)]).toEqual([2, [1, 2, 3]]);
  });

  it("is waited for by close, which then carries out the queued writes", async () => {
    const { held, sync } = heldSync();
    const { writer, put } = open({ sync });
    const first = writer.write(put(1), "accepted");
    await turns(2);
    const second = writer.write(put(2), "accepted");

    const closed = writer.close();
    held.shift()?.(null);

    await closed;
    expect(await outcomes([first, second])).toEqual([1, 2]);
  });
});
