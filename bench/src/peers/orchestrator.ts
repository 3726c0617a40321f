/**
 * The least that runs workflows durably. Each start, step and end is in a file and synced before its answer; writes that come
 * during a sync go with the next one; the endpoint is called with the history. There is no retry, restart, group or
 * signature. `node orchestrator.ts <port> <data folder>`
 */
import { fdatasync, openSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { deliver } from "./deliver.ts";

const [port, folder = "."] = process.argv.slice(2);
const write = logIn(join(folder, "runs.log"));

type Run = { readonly url: string; readonly entries: string[] };
const runs = new Map<string, Run>();

const trigger = "/v2/trigger/";
const finish = "/v2/workflows/runs/";

const server = createServer((request, response) => void take(request, response));
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1");

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = "", headers } = request;
  const body = await buffer(request);
  const named = String(headers["upstash-workflow-runid"]);
  if (url.startsWith(trigger)) {
    const run = { url: url.slice(trigger.length), entries: [] };
    runs.set(named, run);
    write(body, () => {
      answer(response, { workflowRunId: named });
      call(named, run, body);
    });
  } else if (url.startsWith(finish)) {
    write(body, () => {
      runs.delete(url.slice(finish.length).split("?")[0] ?? "");
      answer(response, {});
    });
  } else if (url === "/v2/batch") {
    const [item] = JSON.parse(body.toString()) as [
      { headers: Record<string, string>; body: string },
    ];
    const id = item.headers["upstash-workflow-runid"] ?? "";
    const run = runs.get(id);
    write(body, () => {
      answer(response, [{ messageId: "msg" }]);
      if (run) call(id, run, Buffer.from(item.body));
    });
  } else answer(response, "ok");
}

function call(id: string, { url, entries }: Run, body: Buffer): void {
  entries.push(`{"messageId":"msg","body":"${body.toString("base64")}","callType":"step"}`);
  const headers = { "content-type": "application/json", "upstash-workflow-runid": id };
  deliver({ url, headers, body: `[${entries.join(",")}]` }, (outcome) => {
    if (outcome !== 200) console.error("orchestrator: a delivery failed", outcome);
  });
}

function answer(response: ServerResponse, json: unknown): void {
  response.setHeader("Content-Type", "application/json").end(JSON.stringify(json));
}

/** `done` is called when the bytes are on disk. */
function logIn(file: string): (bytes: Buffer, done: () => void) => void {
  const log = openSync(file, "w");
  let waiting: (() => void)[] = [];
  let isSyncing = false;
  const sync = () => {
    if (isSyncing || waiting.length === 0) return;
    isSyncing = true;
    const batch = waiting;
    waiting = [];
    fdatasync(log, (error) => {
      if (error) throw error;
      isSyncing = false;
      for (const done of batch) done();
      sync();
    });
  };
  return (bytes, done) => {
    writeSync(log, bytes);
    waiting.push(done);
    sync();
  };
}
