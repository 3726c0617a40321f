#!/usr/bin/env node
/** The process of `posthaste`. Checks the version of Node before it loads the rest. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `posthaste: this is Node ${process.versions.node}, and 24.15 or newer is needed: nodejs.org has it\n`,
  );
  process.exit(1);
}

const interruption = new AbortController();
// A second Ctrl-C ends the process at once.
process.once("SIGINT", () => interruption.abort());
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  // The reader of the pipe has closed it.
  if (code === "EPIPE") process.exit();
  process.stderr.write(`posthaste: the output cannot be written: ${message}\n`);
  process.exit(1);
});

const { run } = await import("./run.ts");
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: process.stdout,
  err: process.stderr,
  stdin: process.stdin,
  interrupted: interruption.signal,
});
