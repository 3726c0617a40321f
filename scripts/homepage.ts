import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const { repository } = JSON.parse(
  readFileSync(join(dirname(import.meta.dirname), "package.json"), "utf8"),
) as { readonly repository: { readonly url: string } };

export const homepage = repository.url.replace(/^git\+(.*)\.git$/, "$1");
