/** A hook for `node --import` that delays each sync of a commit by a second and a half. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const own = "run: (done) => fdatasync(file, done),";
const slow = "run: (done) => void setTimeout(() => fdatasync(file, done), 1_500),";

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.endsWith("/libs/embedded/src/database/sync.ts")) return loaded;
    const source = readFileSync(new URL(url), "utf8");
    if (!source.includes(own)) throw new Error(`${url} does not say ${own}`);
    return { ...loaded, source: source.replace(own, slow) };
  },
});
