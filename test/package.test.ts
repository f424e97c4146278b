import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { thoroughDescribe } from "./support/test-depth.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** The maximum size of the packed package, in bytes. */
const MAX_PACKED_BYTES = 1.5 * 1024 * 1024;

/** The README says that these documents are in the repository only. */
const REPOSITORY_ONLY =
  /^(CHANGELOG\.md|CONTRIBUTING\.md|Dockerfile|examples\/.*|docs\/(architecture|benchmarks|chaos|git|renames|scenarios|testing)\.md|docs\/(api|contributing|decisions|images)\/.*)$/;

type Packed = { readonly size: number; readonly files: readonly { readonly path: string }[] };

let packed: Packed | undefined;
let paths: readonly string[] = [];

// Packing takes seconds.
thoroughDescribe("the packed package", () => {
  beforeAll(() => {
    const { status, stdout } = spawnSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
      cwd: ROOT,
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024,
    });
    [packed] = JSON.parse(status === 0 ? stdout : "[]") as readonly Packed[];
    paths = packed?.files.map(({ path }) => path) ?? [];
  });

  test("is small: no source maps, no folders of this machine, no code of the development tools", () => {
    expect(packed?.size).toBeLessThan(MAX_PACKED_BYTES);
    expect(paths.filter((path) => /\.map$|^dist\/(\.|devkit)/.test(path))).toEqual([]);
    expect(readFileSync(join(ROOT, "dist/workflow-bundle.js"), "utf8")).not.toContain(ROOT);
  });

  /** The longest is `definition.d.ts`: agents and their sub-agents are one recursive type, which is expanded once. */
  const MAX_DECLARATION_LINES = 500;

  test("the declarations name their types, so that none is long", () => {
    const declarations = paths.filter((path) => path.endsWith(".d.ts"));
    expect(declarations).toContain("dist/schema/mode.d.ts");
    const long = declarations.filter(
      (path) => readFileSync(join(ROOT, path), "utf8").split("\n").length > MAX_DECLARATION_LINES,
    );
    expect(long).toEqual([]);
  });

  test("every link of a packed document leads to a packed file, except to the documents of the repository", () => {
    const pages = paths.filter((path) => path.endsWith(".md"));
    expect(pages).toContain("docs/agents.md");
    const dangling = pages.flatMap((page) =>
      listLinks(page)
        .filter((target) => !paths.some((path) => path === target || path.startsWith(`${target}/`)))
        .filter((target) => !REPOSITORY_ONLY.test(target))
        .map((target) => `${page} -> ${target}`),
    );
    expect(dangling).toEqual([]);
  });
});

/** Lists the files of the repository that a page links to. */
function listLinks(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => normalize(join(dirname(page), target)).replace(/\/$/, ""));
}
