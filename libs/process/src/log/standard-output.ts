/**
 * The standard output of a process. A full disk or a closed pipe loses lines of the log and ends no process: by default,
 * Node and pino throw for them where nothing catches it.
 */
import { destination } from "pino";

/** The bytes of lines that wait until they can be written. Later ones are lost. */
const waitingBytesMax = 1024 * 1024;

const passOver = (): void => undefined;

/** Returns a function that writes a line. */
export function humanOutput(): (line: string) => void {
  outliveErrors();
  return (line) => void process.stdout.write(line);
}

/** Returns a stream for pino, which writes to the file itself and not to Node's stream. */
export function jsonOutput() {
  // Other lines, such as a greeting, are written to Node's stream.
  outliveErrors();
  const output = destination({ dest: 1, sync: true, maxLength: waitingBytesMax });
  output.on("error", passOver);
  return output;
}

function outliveErrors(): void {
  if (!process.stdout.listeners("error").includes(passOver)) process.stdout.on("error", passOver);
}
