#!/usr/bin/env node
/** `posthaste`: the process around a command. */
import { run } from "./run.ts";

const interruption = new AbortController();
// The second ends it at once.
process.once("SIGINT", () => interruption.abort());
// The reader of a pipe may have had enough.
process.stdout.on("error", () => process.exit());

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  stdin: process.stdin,
  interrupted: interruption.signal,
});
