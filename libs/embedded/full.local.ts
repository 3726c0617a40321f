import { openEmbedded } from "./src/index.ts";
import { writeFileSync, statfsSync, existsSync, appendFileSync, readdirSync, statSync } from "node:fs";
import { tenantId, owner, acceptClaimed, settleAttempt, shardOf, type Message } from "@posthaste/domain";
const dir = "/tmp/emb/small/data";
const clock = { now: () => Date.now(), after: (ms: number, t: () => void) => { const x = setTimeout(t, ms); return () => clearTimeout(x); } };
const random = { text: (n: number) => { let s = ""; while (s.length < n) s += Math.random().toString(36).slice(2); return s.slice(0, n); }, fraction: Math.random };
const log: any = { debug() {}, info() {}, warn: (...a: any[]) => console.log("warn", a[0], a[1]?.error?.message), error: (...a: any[]) => console.log("error", a[0], a[1]?.error?.message), debugs: false };
const e = openEmbedded({ dataDir: dir, clock, random, log, reserveBytes: 48 << 20, fatal: (x) => console.log("FATAL", x.message, (x.cause as any)?.message) });
const t = tenantId("t1"), own = owner("o");
const free = () => { const s = statfsSync("/tmp/emb/small"); return (s.bavail * s.bsize / 1e6).toFixed(1); };
const body = Buffer.alloc(20000, 120);
const live: any[] = []; let refusedBy = "";
const make = () => { const id = e.ids.next(), now = Date.now(); const m: Message = { id, tenant: t, dialect: "upstash", shard: shardOf(id), createdAt: now, notBefore: now, url: "http://x/", method: "POST", headers: [], body, policy: { timeoutMs: 7200000, retriesMax: 0, labels: [] }, origin: { callerIp: "127.0.0.1", hop: 0 } }; return acceptClaimed(m, own, now); };
async function insertUntilRefused() { for (;;) { const rec = make(); try { await e.messages.insert([{ record: rec }]); live.push(rec); } catch (x: any) { return x.code + ": " + x.message; } if (live.length % 200 === 0) await new Promise((r) => setTimeout(r, 60)); } }
await new Promise((r) => setTimeout(r, 300));
console.log("1 refused:", await insertUntilRefused(), "live", live.length, "free MB", free(), readdirSync(dir));
// another program fills the rest
try { for (;;) appendFileSync("/tmp/emb/small/junk", Buffer.alloc(1 << 20)); } catch { try { for (;;) appendFileSync("/tmp/emb/small/junk", Buffer.alloc(4096)); } catch {} }
console.log("filled; free MB", free());
let ok = 0, bad: Record<string, number> = {};
for (const rec of live) { const s = settleAttempt(rec, { startedAt: Date.now(), endedAt: Date.now(), outcome: { kind: "answered", status: 500, headers: [], body: Buffer.alloc(5000), truncated: false } }, { chance: 0, retryDelayMs: undefined }); try { const [r] = await e.messages.settle([s]); if (r!.kind === "ok") ok++; } catch (x: any) { bad[x.code + ":" + x.message] = (bad[x.code + ":" + x.message] ?? 0) + 1; } }
console.log("settled", ok, "of", live.length, bad, "free", free(), readdirSync(dir), readdirSync(dir).map((f) => statSync(dir + "/" + f).size));
console.log("insert now:", await e.messages.insert([{ record: make() }]).catch((x) => x.code));
await e.close();
const e2 = openEmbedded({ dataDir: dir, clock, random, log, reserveBytes: 0 }); console.log("reopened", e2.recovered); await e2.close();
