/**
 * Ends what this process has started, and removes its data, when this process ends in whatever way: by `kill -9`, too.
 *
 * A shell of one megabyte reads what is to be done from a pipe. When the pipe ends, this process has ended, and
 * the shell does what is left. It lives only while there is something to do.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { type Writable } from "node:stream";

/** Lines are `+group 123`, `+folder /tmp/x`, or the same with `-` for what is done already. */
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
  // A session of its own: a Ctrl-C at the terminal must not reach it.
  const started = spawn("sh", ["-c", script], {
    detached: true,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  started.unref();
  // A shell that was killed can do nothing more; this process need not die of it.
  started.on("error", () => undefined);
  pipeOf(started)?.on("error", () => undefined);
  return started;
}

function pipeOf(child: ChildProcess): Writable | null {
  return child.stdin;
}
