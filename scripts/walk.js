// Prints the files that one message, or a run of one step, crosses in the standalone, in the order of the first call.
//
//   npm run dev -- node scripts/walk.js publish     a message, from the publish to its settled delivery
//   npm run dev -- node scripts/walk.js step        a run of one step, from its start to its end
//
// A standalone of its own, in a folder that is removed, does this three times under V8's inspector. The first time
// warms up. The second time does the same fifty times, one after another, counts calls by precise coverage, and
// divides: functions that only a timer or a new connection calls are not counted. The third has a breakpoint in each
// counted function, which gives the order in which the files are entered.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(import.meta.dirname);
/** Longer than the work after an answer takes: the settle, its facts and the log. */
const settleMs = 1_500;
const startMsMax = 60_000;
const rounds = 50;

async function walk(prepare) {
  const folder = mkdtempSync(join(tmpdir(), "posthaste-walk-"));
  const server = await startServer(folder);
  const { close, once: goOnce } = await prepare(server);
  try {
    await settled(goOnce);
    const counted = await countCalls(server.inspector, goOnce);
    const order = await orderOfFiles(server.inspector, counted, goOnce);
    print(counted, order);
  } finally {
    close();
    // A process does not exit while its inspector is connected.
    server.inspector.close();
    server.child.kill();
    await once(server.child, "exit");
    rmSync(folder, { recursive: true });
  }
}

async function settled(act) {
  await act();
  await sleep(settleMs);
}

/** Returns the functions of this repository that each round calls: { file, scriptId, start, end, calls }. */
async function countCalls(inspector, act) {
  await inspector.send("Profiler.enable");
  await inspector.send("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await inspector.send("Profiler.takePreciseCoverage");
  await settled(async () => {
    for (let round = 0; round < rounds; round++) await act();
  });
  const { result } = await inspector.send("Profiler.takePreciseCoverage");
  await inspector.send("Profiler.stopPreciseCoverage");
  return functionsIn(result);
}

const functionsIn = (scripts) =>
  scripts.flatMap(({ functions, scriptId, url }) => {
    const file = url.startsWith("file:") ? relative(root, fileURLToPath(url)) : "..";
    if (file.startsWith("..") || file.includes("node_modules")) return [];
    return functions
      .map(({ ranges: [{ count, endOffset, startOffset }] }) => ({
        ...{ file, scriptId, start: startOffset, end: endOffset },
        calls: Math.round(count / rounds),
      }))
      .filter(({ calls }) => calls > 0);
  });

/** Returns the files in the order in which one of their functions is called first. */
async function orderOfFiles(inspector, functions, act) {
  await inspector.send("Debugger.enable");
  // A timer that reaches a breakpoint before the listener is there would stop the process for ever.
  await inspector.send("Debugger.setBreakpointsActive", { active: false });
  const breakpoints = new Map();
  for (const [file, all] of Map.groupBy(functions, (each) => each.file)) {
    const { scriptSource } = await inspector.send("Debugger.getScriptSource", {
      scriptId: all[0].scriptId,
    });
    const placeOf = placesIn(scriptSource, all[0].scriptId);
    const ids = [];
    for (const { end, start } of all) {
      const { locations } = await inspector.send("Debugger.getPossibleBreakpoints", {
        ...{ start: placeOf(start), end: placeOf(end), restrictToFunction: true },
      });
      if (locations.length === 0) continue;
      const [{ columnNumber, lineNumber, scriptId }] = locations;
      const location = { scriptId, lineNumber, columnNumber };
      // Two functions of one line may begin at one place.
      const set = await inspector.send("Debugger.setBreakpoint", { location }).catch(() => {});
      if (set) ids.push(set.breakpointId);
    }
    breakpoints.set(file, ids);
  }
  const fileOfBreakpoint = new Map(
    [...breakpoints].flatMap(([file, ids]) => ids.map((id) => [id, file])),
  );
  const order = [];
  inspector.on("Debugger.paused", async ({ hitBreakpoints }) => {
    for (const file of new Set(hitBreakpoints.map((id) => fileOfBreakpoint.get(id)))) {
      if (file === undefined || order.includes(file)) continue;
      order.push(file);
      for (const breakpointId of breakpoints.get(file))
        await inspector.send("Debugger.removeBreakpoint", { breakpointId });
    }
    await inspector.send("Debugger.resume");
  });
  await inspector.send("Debugger.setBreakpointsActive", { active: true });
  await settled(act);
  await inspector.send("Debugger.disable");
  return order;
}

function placesIn(source, scriptId) {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1))
    starts.push(at + 1);
  return (offset) => {
    const after = starts.findIndex((start) => start > offset);
    const lineNumber = (after < 0 ? starts.length : after) - 1;
    return { scriptId, lineNumber, columnNumber: offset - starts[lineNumber] };
  };
}

function print(functions, order) {
  const calls = new Map();
  for (const { calls: count, file } of functions) calls.set(file, (calls.get(file) ?? 0) + count);
  // A file that was not entered the third time comes last: only a timer had called it.
  const files = [...order, ...[...calls.keys()].filter((file) => !order.includes(file))];
  for (const file of files) console.log(`${String(calls.get(file)).padStart(6)}  ${file}`);
  const all = [...calls.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${files.length} files, ${all} calls`);
}

/** Starts a standalone, and connects to its inspector. */
async function startServer(folder) {
  const port = await freePort();
  const env = {
    ...process.env,
    ...{ POSTHASTE_PROFILE: "dev", POSTHASTE_PORT: `${port}`, POSTHASTE_DATA_DIR: folder },
    ...{ POSTHASTE_CATCHER: "off", POSTHASTE_LOG_LEVEL: "error" },
  };
  const main = join(root, "services/standalone/process/main.ts");
  const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", main], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A walk that is ended from outside leaves no server behind.
  process.once("exit", () => child.kill());
  process.once("SIGTERM", () => process.exit(1));
  let told = "";
  const url = await new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error(`the standalone has ended: ${told}`)));
    child.stdout.on("data", (chunk) => (told += chunk));
    child.stderr.on("data", (chunk) => {
      told += chunk;
      const [, found] = /listening on (ws:\S+)/.exec(told) ?? [];
      if (found) resolve(found);
    });
  });
  const deadline = performance.now() + startMsMax;
  const address = `http://127.0.0.1:${port}`;
  // The token is printed beside the port, and may be read after the port answers.
  const tokenTold = () => /token\s+(\S+)\s/.exec(told)?.[1];
  while (!(await fetch(`${address}/readyz`).catch(() => undefined))?.ok || !tokenTold()) {
    if (performance.now() > deadline) throw new Error(`the standalone is not ready: ${told}`);
    await sleep(100);
  }
  return { address, child, token: tokenTold(), inspector: await inspectorAt(url) };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function inspectorAt(url) {
  const socket = new WebSocket(url);
  await once(socket, "open");
  const waiting = new Map();
  const listeners = new Map();
  socket.addEventListener("message", ({ data }) => {
    const { error, id, method, params, result } = JSON.parse(data);
    if (method) return listeners.get(method)?.(params);
    const { reject, resolve } = waiting.get(id);
    waiting.delete(id);
    return error ? reject(new Error(error.message)) : resolve(result);
  });
  let last = 0;
  return {
    close: () => socket.close(),
    on: (method, listener) => listeners.set(method, listener),
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
  };
}

async function walkMessage({ address, token }) {
  const server = createServer((request, response) => {
    request.resume();
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = `http://127.0.0.1:${server.address().port}/`;
  return {
    close: () => server.close().closeAllConnections(),
    once: async () => {
      const arrival = once(server, "request");
      await post(`${address}/v2/publish/${target}`, token);
      await arrival;
    },
  };
}

async function walkRun({ address, token }) {
  Object.assign(process.env, { QSTASH_URL: address, QSTASH_TOKEN: token });
  const { resolve } = createRequire(join(root, "examples/package.json"));
  const from = (name) => import(pathToFileURL(resolve(name)));
  const { default: express } = await from("express");
  const { serve } = await from("@upstash/workflow/express");
  const app = express().use(express.json());
  app.use(
    "/",
    serve((context) => context.run("step", () => "done")),
  );
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = `http://127.0.0.1:${server.address().port}/`;
  return {
    close: () => server.close().closeAllConnections(),
    // The first delivery runs the step and publishes its result, the second ends the run.
    once: async () => {
      const deliveries = twice(server, "request");
      await post(`${address}/v2/trigger/${target}`, token);
      await deliveries;
    },
  };
}

async function twice(emitter, event) {
  await once(emitter, event);
  await once(emitter, event);
}

async function post(url, token) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: '{"hello":"world"}' });
  if (!response.ok)
    throw new Error(`${url} was answered ${response.status}: ${await response.text()}`);
  return response.json();
}

const ways = { publish: walkMessage, step: walkRun };
const way = ways[process.argv[2]];
if (way) await walk(way);
else {
  console.log(`usage: node scripts/walk.js ${Object.keys(ways).join(" | ")}`);
  process.exitCode = 2;
}
