import { openEmbedded } from "./src/index.ts";
import { rmSync, statSync } from "node:fs";
import { tenantId, owner, acceptClaimed, accept, shardOf, type Message } from "@posthaste/domain";
const dir = "/tmp/emb/rec"; rmSync(dir, { recursive: true, force: true });
const clock = { now: () => Date.now(), after: (ms: number, t: () => void) => { const x = setTimeout(t, ms); return () => clearTimeout(x); } };
const random = { text: (n: number) => { let s = ""; while (s.length < n) s += Math.random().toString(36).slice(2); return s.slice(0, n); }, fraction: Math.random };
const log: any = { debug() {}, info() {}, warn: console.log, error: console.log, debugs: false };
const N = +(process.argv[2] ?? 100000), mode = process.argv[3] ?? "claimed";
let e = openEmbedded({ dataDir: dir, clock, random, log, reserveBytes: 0 });
const body = Buffer.alloc(200, 120), t = tenantId("t1"), own = owner("standalone-1234");
const make = (): Message => { const id = e.ids.next(), now = Date.now(); return { id, tenant: t, dialect: "upstash", shard: shardOf(id), createdAt: now, notBefore: mode === "held" ? now + 3600e3 : now, url: "http://127.0.0.1:9999/some/path", method: "POST",
   headers: [["Content-Type","application/json"],["X-Custom","abc"],["User-Agent","load/1.0"]], body, policy: { timeoutMs: 7200000, retriesMax: 3, labels: [] }, origin: { callerIp: "127.0.0.1", hop: 0 } }; };
for (let i = 0; i < N; i += 1000) await e.messages.insert(Array.from({ length: 1000 }, () => { const m = make(); return { record: mode === "claimed" ? acceptClaimed(m, own, Date.now()) : accept(m, Date.now()) }; }));
await e.close();
console.log("db MB", statSync(dir + "/posthaste.db").size / 1e6);
for (let i = 0; i < 2; i++) { const a = performance.now(); e = openEmbedded({ dataDir: dir, clock, random, log, reserveBytes: 0 }); console.log(mode, N, "open ms", performance.now() - a, e.recovered); 
 { const b = performance.now(); const x = await e.messages.nextAlarm(Array.from({length:64},(_, i)=>i)); console.log("nextAlarm ms", performance.now() - b, x); const c0 = performance.now(); const r = await e.messages.ring(Array.from({length:64},(_, i)=>i), 500); console.log("ring 500 ms", performance.now() - c0, r.hints.length); const c1 = performance.now(); const p = await e.messages.pull(t, 500, []); console.log("pull ms", performance.now() - c1, p.length); }
 await e.close(); }
