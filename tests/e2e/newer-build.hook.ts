/** A hook for `node --import` that turns this build into a newer one, in which messages of queues and of runs need a format of their own. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const message = "/libs/domain/src/message/accept.ts";
const ofRun = "/libs/domain/src/workflow/delivery.ts";
/** A text of a file, and the newer build's replacement. */
const changes = [
  ["/libs/domain/src/shared/format.ts", "ownFormat = 5;", "ownFormat = 6;"],
  [
    message,
    "    id,\n    tenant,",
    "    id,\n    ...(queue !== undefined && { format: 6 }),\n    tenant,",
  ],
  [ofRun, "...(run.format !== undefined && { format: run.format }),", "format: 6,"],
] as const;

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    const change = changes.find(([file]) => url.endsWith(file));
    if (!change) return loaded;
    const [, before, after] = change;
    const source = readFileSync(new URL(url), "utf8");
    if (!source.includes(before)) throw new Error(`${url} does not have ${before}`);
    return { ...loaded, source: source.replace(before, after) };
  },
});
