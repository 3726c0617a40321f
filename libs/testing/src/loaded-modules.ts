/** Which modules a process loads, for what is heavy and must not be loaded by a process that does not need it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const watched = `
  import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
`;

/** The URLs of all that a process of its own loads for `script`, an ES module without static imports. */
export async function modulesLoadedBy(script: string): Promise<readonly string[]> {
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module"];
  const evaluated = ["--eval", `${watched}${script}`];
  const { stdout } = await promisify(execFile)(process.execPath, [...args, ...evaluated]);
  return stdout.split("\n");
}
