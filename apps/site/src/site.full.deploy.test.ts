/** Builds the site of a copy of this repository that has a release, and opens it. */
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, globSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, jest } from "@jest/globals";

const root = join(import.meta.dirname, "../../..");
const copy = mkdtempSync(join(tmpdir(), "posthaste-site-"));
const site = join(copy, "apps/site/dist/site");
jest.setTimeout(600_000);

function git(...args: readonly string[]): string {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
  const { status, stdout, stderr } = spawnSync("git", [...identity, ...args], {
    cwd: copy,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  return stdout;
}

function build(...args: readonly string[]) {
  const main = join(copy, "apps/site/src/main.ts");
  return spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    cwd: copy,
    encoding: "utf8",
  });
}

const read = (path: string): string => readFileSync(join(site, path), "utf8");

describe("the site", () => {
  beforeAll(() => {
    const tracked = spawnSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
      cwd: root,
      encoding: "utf8",
    });
    for (const file of tracked.stdout.split("\0").filter((name) => existsSync(join(root, name))))
      if (file !== "") cpSync(join(root, file), join(copy, file), { recursive: true });
    git("init", "--quiet");
    git("add", "--all");
    git("commit", "--quiet", "--message", "A release");
    git("tag", "v0.1.0");
    appendFileSync(join(copy, "docs/quick-start.md"), "\n## After the release\n");
    const { status, stderr } = build("--base", "/docs/");
    if (status !== 0) throw new Error(stderr);
  });

  it("has a folder for each version, and leads to the newest release", () => {
    expect(JSON.parse(read("versions.json"))).toEqual(["0.1", "next"]);
    expect(read("index.html")).toContain('url=/docs/0.1/"');
    expect(read("next/quick-start.html")).toContain("After the release");
    expect(read("0.1/quick-start.html")).not.toContain("After the release");
    expect(read("0.1/quick-start.html")).toContain("/blob/v0.1.0/docs/quick-start.md");
  });

  it("has an index of the search for each version", () => {
    for (const version of ["0.1", "next"]) {
      const [index = ""] = globSync(`${version}/assets/chunks/*localSearchIndex*.js`, {
        cwd: site,
      });
      expect(read(index)).toContain("Flow control");
    }
  });

  it("takes the place of nothing but a site", () => {
    const { status, stderr } = build("--out", join(copy, "docs"));

    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `site: --out ${join(copy, "docs")} has other things than a site\n`,
    });
    expect(existsSync(join(copy, "docs/README.md"))).toBe(true);
  });

  it("is not built with a broken link or anchor, and the previous site stays", () => {
    appendFileSync(join(copy, "docs/quick-start.md"), "\n[nowhere](concepts.md#nowhere)\n");
    const { status, stderr } = build("--base", "/docs/", "--only", "next");

    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(
        "next/quick-start.html leads to /docs/next/concepts.html#nowhere",
      ),
    });
    expect(read("0.1/quick-start.html")).toContain("Quick start");
  });
});
