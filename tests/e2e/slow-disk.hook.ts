/** A hook for `node --import` that delays each sync of a commit by a second and a half. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const own = "run: () => syncData(file),";
const slow =
  "run: () => new Promise((resolve) => setTimeout(resolve, 1_500)).then(() => syncData(file)),";

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.endsWith("/libs/embedded/src/database/write-ahead-log.ts")) return loaded;
    const source = readFileSync(new URL(url), "utf8");
    if (!source.includes(own)) throw new Error(`${url} does not say ${own}`);
    return { ...loaded, source: source.replace(own, slow) };
  },
});
