import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";

const script = pathToFileURL(resolve(import.meta.dirname, "../scripts/release.mjs")).href;
const { buildManifest, closeChangelog } = await import(script);

describe("the published manifest", () => {
  const source = { name: "holdfast", scripts: { test: "x" }, devDependencies: { vitest: "1" } };

  test("has no addresses while none is set, and nothing that only the repository needs", () => {
    expect(buildManifest({ ...source, config: { repository: "" } })).toEqual({ name: "holdfast" });
  });

  test("has all addresses of the one that is set", () => {
    expect(buildManifest({ ...source, config: { repository: "https://example.com/owner/name/" } })).toEqual({
      name: "holdfast",
      repository: { type: "git", url: "git+https://example.com/owner/name.git" },
      homepage: "https://example.com/owner/name#readme",
      bugs: { url: "https://example.com/owner/name/issues" },
    });
  });

  test.each(["example.com/owner/name", "https://example.com/owner/name.git", "git@example.com:name"])(
    "is not made with the address %s",
    (repository) => {
      expect(() => buildManifest({ ...source, config: { repository } })).toThrow("config.repository");
    },
  );
});

describe("the changelog of a release", () => {
  test("has the entries under version and date, and an empty Unreleased above", () => {
    const closed = closeChangelog(
      "# Changelog\n\n## Unreleased\n\n### Added\n\n- One.\n",
      "0.1.0",
      "2026-11-25",
    );
    expect(closed).toBe("# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-11-25\n\n### Added\n\n- One.\n");
  });

  test.each([
    ["# Changelog\n", 'no "## Unreleased"'],
    ["## Unreleased\n\n## 0.0.1 - 2026-01-01\n\n- Old.\n", "no entries"],
    ["## Unreleased\n\n- New.\n\n## 0.1.0 - 2026-01-01\n", "0.1.0 already"],
  ])("%j is refused", (changelog, problem) => {
    expect(() => closeChangelog(changelog, "0.1.0", "2026-11-25")).toThrow(problem);
  });
});
