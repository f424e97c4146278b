import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  ...listPages("docs"),
  ...listPages("examples"),
];

test("every link of the documents leads to a file, and to a heading in it", () => {
  const links = PAGES.flatMap((page) => readLinks(page).map((link) => [page, link] as const));
  expect(links.length).toBeGreaterThan(500);
  const dead = links.filter(([page, link]) => !leadsSomewhere(page, link));
  expect(dead.map(([page, link]) => `${page}: ${link}`)).toEqual([]);
});

function listPages(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
}

/** Removes blocks and spans of code, in which brackets are no links. */
function readProse(page: string): string {
  return readFileSync(join(ROOT, page), "utf8")
    .replace(/^( *)(```+)[\s\S]*?^\1\2/gm, "")
    .replace(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, " "));
}

function readLinks(page: string): string[] {
  const found = [...readProse(page).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = ""]) => link);
  return found.filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const target = path === "" ? join(ROOT, page) : resolve(ROOT, dirname(page), decodeURI(path));
  if (!existsSync(target) || relative(ROOT, target).startsWith("..")) return false;
  if (heading === undefined || statSync(target).isDirectory()) return true;
  return listAnchors(relative(ROOT, target)).has(heading);
}

const anchors = new Map<string, ReadonlySet<string>>();

/** Lists the anchors of a page: those of its headings, as GitHub derives them, and explicit ones. */
function listAnchors(page: string): ReadonlySet<string> {
  const known = anchors.get(page);
  if (known !== undefined) return known;
  const text = readFileSync(join(ROOT, page), "utf8");
  const explicit = [...text.matchAll(/<a id="([^"]+)"/g)].map(([, id = ""]) => id);
  const counts = new Map<string, number>();
  const derived = [...text.matchAll(/^#{1,6} +(.+?)(?: *<a id=.*)?$/gm)].map(([, heading = ""]) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = words
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  const found = new Set([...explicit, ...derived]);
  anchors.set(page, found);
  return found;
}
