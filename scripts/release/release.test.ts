import { describe, expect, it } from "@jest/globals";
import { sectionOf, withSection } from "./changelog.ts";
import { order, whyNoVersion, withVersion } from "./version.ts";

describe("a version", () => {
  it("is higher than the tagged one, as semantic versioning orders them", () => {
    const inOrder = [
      ...["0.1.0", "0.2.0-alpha", "0.2.0-alpha.1", "0.2.0-alpha.beta", "0.2.0-beta.2"],
      ...["0.2.0-beta.11", "0.2.0-rc.1", "0.2.0", "0.10.0", "1.0.0-x-y", "1.0.0"],
    ];

    expect(inOrder.toReversed().toSorted(order)).toEqual(inOrder);
    for (const [at, version] of inOrder.entries())
      for (const [other, released] of inOrder.entries())
        expect(whyNoVersion(version, released) === undefined).toBe(at > other);
  });

  it.each(["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-a..b", "1.2.3+build", "1.2.3 "])(
    "is not %j",
    (text) => expect(whyNoVersion(text)).toContain("is not a version"),
  );

  it("is in each package, in the chart and in the names of packed files", () => {
    const to = (path: string, text: string) => withVersion(path, text, "0.1.0", "0.2.0-rc.1");

    expect(to("libs/http/package.json", '{\n  "version": "0.1.0",\n  "a": "0.1.0"\n}')).toBe(
      '{\n  "version": "0.2.0-rc.1",\n  "a": "0.1.0"\n}',
    );
    expect(to("helm/posthaste/Chart.yaml", 'version: 0.1.0\nappVersion: "0.1.0"\n')).toBe(
      'version: 0.2.0-rc.1\nappVersion: "0.2.0-rc.1"\n',
    );
    const page =
      "npm run release -- 0.1.0 --rehearsal; npm install ~/posthaste-0.1.0.tgz posthaste-client-0.1.0.tgz; Redis 0.1.0";
    const next = to("docs/cli.md", page);
    expect(next).toBe(
      "npm run release -- 0.2.0-rc.1 --rehearsal; npm install ~/posthaste-0.2.0-rc.1.tgz posthaste-client-0.2.0-rc.1.tgz; Redis 0.1.0",
    );
    expect(withVersion("docs/cli.md", next, "0.2.0-rc.1", "0.1.0")).toBe(page);
  });
});

describe("the changelog", () => {
  const release = { version: "0.2.0", date: "2026-11-27", subjects: ["Refuse `a_b`", "Bound"] };

  it("has a section of the unreleased changes and of the commits, above the older ones", () => {
    const text = "# Changelog\n\n## Unreleased\n\nWords.\n\n## 0.1.0 - 2026-01-01\n\nOld.\n";

    const next = withSection(text, release);

    expect(next).toBe(
      "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-27\n\nWords.\n\n### Commits\n\n" +
        "- Refuse \\`a\\_b\\`\n- Bound\n\n## 0.1.0 - 2026-01-01\n\nOld.\n",
    );
    expect(sectionOf(next, "0.2.0")).toBe("Words.\n\n### Commits\n\n- Refuse \\`a\\_b\\`\n- Bound");
    expect(sectionOf(next, "0.1.0")).toBe("Old.");
  });

  it("is unchanged if it has the section, so that a tag makes the same files again", () => {
    const next = withSection("# Changelog\n\n## Unreleased\n", release);

    expect(withSection(next, { ...release, date: "2027-01-01", subjects: ["Other"] })).toBe(next);
  });

  it("lists a bounded number of commits, and says how many more there are", () => {
    const subjects = Array.from({ length: 250 }, (_, at) => `Commit ${at}`);

    const next = withSection("# Changelog\n\n## Unreleased\n", { ...release, subjects });

    expect(next.match(/^- Commit/gm)).toHaveLength(200);
    expect(next).toContain("- and 50 more\n");
  });

  it("without a section for unreleased changes is refused", () => {
    expect(() => withSection("# Changelog\n", release)).toThrow('has no "## Unreleased"');
  });
});
