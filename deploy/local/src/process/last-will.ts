/**
 * Ends the processes that this process started and removes its data, however this process ends, `kill -9` included.
 *
 * A shell of one megabyte reads the list from a pipe. The pipe ends with this process, and the shell does the rest. The
 * shell lives only while the list has entries.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { type Writable } from "node:stream";

/** Reads lines of `+group 123` or `+folder /tmp/x`, or the same with `-` for a removed entry. */
const script = `
wills=
while IFS= read -r line; do
  will=\${line#?}
  case $line in
    +*) wills="$wills$will
" ;;
    -*) wills=$(printf '%s' "$wills" | grep -vxF -- "$will"); wills="\${wills:+$wills
}" ;;
  esac
done
printf '%s' "$wills" | while IFS= read -r will; do
  case $will in group\\ *) kill -KILL "-\${will#group }" 2>/dev/null ;; esac
done
printf '%s' "$wills" | while IFS= read -r will; do
  case $will in folder\\ *) rm -rf -- "\${will#folder }" ;; esac
done
`;

type Will = `group ${number}` | `folder ${string}`;

const wills = new Set<Will>();
let executor: ChildProcess | undefined;

export function addWill(will: Will): void {
  wills.add(will);
  executor ??= startExecutor();
  pipeOf(executor)?.write(`+${will}\n`);
}

export function removeWill(will: Will): void {
  if (!wills.delete(will) || executor === undefined) return;
  pipeOf(executor)?.write(`-${will}\n`);
  if (wills.size > 0) return;
  pipeOf(executor)?.end();
  executor = undefined;
}

function startExecutor(): ChildProcess {
  // A session of its own, so that Ctrl-C at the terminal does not reach the shell.
  const started = spawn("sh", ["-c", script], {
    detached: true,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  started.unref();
  // This process survives a shell that was killed.
  started.on("error", () => undefined);
  pipeOf(started)?.on("error", () => undefined);
  return started;
}

function pipeOf(child: ChildProcess): Writable | null {
  return child.stdin;
}
