/** Computes self time by function and by package from the profiles that Node writes with `--cpu-prof`. */

export type CpuProfile = {
  readonly nodes: readonly ProfileNode[];
  /** The running node at each sample, and the microseconds since the sample before. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};
type ProfileNode = { readonly id: number; readonly callFrame: CallFrame };
export type CallFrame = {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
};

export type SelfTime = { readonly name: string; readonly ms: number; readonly share: number };
export type SelfTimes = {
  /** Without idle time. */
  readonly busyMs: number;
  readonly byFunction: readonly SelfTime[];
  readonly byPackage: readonly SelfTime[];
};

/** Returns the self times of all threads together, highest first. */
export function selfTimes(profiles: readonly CpuProfile[], root: string): SelfTimes {
  const byFunction = new Map<string, number>();
  const byPackage = new Map<string, number>();
  let busyUs = 0;
  for (const { nodes, samples, timeDeltas } of profiles) {
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    for (const [index, id] of samples.entries()) {
      const frame = frames.get(id);
      const us = timeDeltas[index] ?? 0;
      if (frame === undefined || frame.functionName === "(idle)") continue;
      busyUs += us;
      add(byFunction, functionOf(frame, root), us);
      add(byPackage, packageOf(frame, root), us);
    }
  }
  return {
    busyMs: busyUs / 1000,
    byFunction: ranked(byFunction, busyUs),
    byPackage: ranked(byPackage, busyUs),
  };
}

/** Returns `libs/embedded`, `undici`, `node:net`, or the engine's own activity. */
export function packageOf({ functionName, url }: CallFrame, root: string): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "(native)";
  if (url.startsWith("node:")) return url.replace(/^node:internal\//, "node:").split("/")[0] ?? url;
  const path = placeOf(url, root);
  const installed = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
  if (installed !== undefined) return installed;
  return path.split("/").slice(0, 2).join("/");
}

function functionOf(frame: CallFrame, root: string): string {
  const { functionName, url, lineNumber } = frame;
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url === "") return name;
  const isInstalled = url.includes("/node_modules/");
  const file = isInstalled
    ? `${packageOf(frame, root)}/…/${url.split("/").at(-1)}`
    : placeOf(url, root);
  return `${name} ${file}:${lineNumber + 1}`;
}

/** Returns a path relative to the repository, so that no path of the host is in a report. */
function placeOf(url: string, root: string): string {
  const path = url.replace(/^file:\/\//, "");
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

function add(times: Map<string, number>, name: string, us: number): void {
  times.set(name, (times.get(name) ?? 0) + us);
}

const ranked = (times: ReadonlyMap<string, number>, busyUs: number): readonly SelfTime[] =>
  [...times]
    .map(([name, us]) => ({ name, ms: us / 1000, share: us / busyUs }))
    .sort((a, b) => b.ms - a.ms);
