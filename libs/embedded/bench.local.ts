import { openEmbedded } from "./src/index.ts";
import { tenantId, owner, acceptClaimed, settleAttempt, randomLength, shardOf, type Message } from "@posthaste/domain";
import { DatabaseSync } from "node:sqlite";
const commits: number[] = []; const ex = DatabaseSync.prototype.exec; DatabaseSync.prototype.exec = function (sql: string) { if (sql !== "COMMIT") return ex.call(this, process.env.PRAGMA && sql.includes("journal_mode = WAL") ? sql.replace(/cache_size/, "cache_size") + process.env.PRAGMA : sql); const a = performance.now(); ex.call(this, sql); commits.push(performance.now() - a); };
import { rmSync, statSync } from "node:fs";
const dir = process.env.DIR ?? "/tmp/emb/bench"; rmSync(dir, { recursive: true, force: true });
const clock = { now: () => Date.now(), after: (ms: number, t: () => void) => { const x = setTimeout(t, ms); return () => clearTimeout(x); } };
const al = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const random = { text: (n: number) => { let s = ""; for (let i = 0; i < n; i++) s += al[Math.floor(Math.random() * 62)]; return s; }, fraction: Math.random };
const nop = () => {}; const log: any = { debug: console.log, info: console.log, warn: console.log, error: console.log, debugs: false };
const e = openEmbedded({ dataDir: dir, clock, random, log });
const t = tenantId("t1"); const own = owner("standalone-1234");
const body = Buffer.alloc(+(process.env.BODY ?? 200), 120);
const policy = { timeoutMs: 7200000, retriesMax: 3, labels: [] };
const N = +(process.env.N ?? 60000), C = +(process.env.C ?? 128);
function message(): Message { const id = e.ids.next(); const now = Date.now();
  return { id, tenant: t, dialect: "upstash", shard: shardOf(id), createdAt: now, notBefore: now, url: "http://127.0.0.1:9999/some/path", method: "POST",
   headers: [["Content-Type","application/json"],["X-Custom","abc"],["User-Agent","load/1.0"]], body, policy, origin: { callerIp: "127.0.0.1", hop: 0 } }; }
let started = 0, done = 0;
async function worker() {
  while (started < N) { started++;
    const m = message(); const rec = acceptClaimed(m, own, Date.now());
    await e.messages.insert([{ record: rec }]);
    const s = settleAttempt(rec, { startedAt: Date.now(), endedAt: Date.now(), outcome: { kind: "answered", status: 200, headers: [], body: Buffer.alloc(0), truncated: false } }, { chance: 0, retryDelayMs: undefined });
    const [r] = await e.messages.settle([s]); if (r!.kind !== "ok" || r!.left.length) throw new Error("bad");
    done++;
  }
}
const all = Array.from({ length: 64 }, (_, i) => i);
let removed = 0, stop = false;
async function sweeper() { while (!stop) { await new Promise((r) => setTimeout(r, 200)); if (process.env.SWEEP !== "0") removed += await e.messages.removeFinished(all, Date.now() - 500, 5000); } }
for (const round of [0, 1, 2]) {
  started = 0; done = 0; stop = false; removed = 0;
  const c0 = process.cpuUsage(), t0 = performance.now(), k0 = e.commits();
  const sw = sweeper();
  await Promise.all(Array.from({ length: C }, worker));
  stop = true; await sw; if (process.env.SWEEP !== "0") removed += await e.messages.removeFinished(all, Date.now() + 1, 1e6);
  const c = process.cpuUsage(c0), wall = performance.now() - t0;
  commits.sort((a, b) => a - b); const q = (f: number) => (commits[Math.floor(f * (commits.length - 1))] ?? 0).toFixed(2); const cs = `commit ms p50 ${q(.5)} p99 ${q(.99)} p999 ${q(.999)} max ${q(1)}`; commits.length = 0;
  console.log(cs + ` C=${C} cpu/msg user ${(c.user / N).toFixed(1)} sys ${(c.system / N).toFixed(1)} total ${((c.user + c.system) / N).toFixed(1)} µs; wall/msg ${(wall * 1000 / N).toFixed(1)}; msgs/commit ${(2 * N / (e.commits() - k0)).toFixed(0)} removed ${removed} db ${(statSync(dir + "/posthaste.db").size / 1e6).toFixed(0)}MB wal ${(statSync(dir + "/posthaste.db-wal").size / 1e6).toFixed(0)}MB`);
}
await e.close();
