/** Resolves when this process is asked to end: by a signal or, if enabled, by the end of its standard input. */
export function untilTold({ untilStdinEnds }: { readonly untilStdinEnds: boolean }): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve());
    if (!untilStdinEnds) return;
    process.stdin.on("close", () => resolve());
    process.stdin.resume();
  });
}
