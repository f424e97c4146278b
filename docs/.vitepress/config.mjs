// The site of the documents: npm run docs builds it into .holdfast/site.
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { SECTIONS } from "./sections.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Too long to read and to search; a link to it shows its text. */
const UNLISTED = ["docs/contributing/conformance.md"];
/** Not searched: a list of former names. */
const UNSEARCHED = /(?:^|\/)renames\.md$/;
/** Some file systems do not distinguish it from `docs/security.md`, whose page is `security`. */
const REPORTING = { source: "SECURITY.md", page: "reporting.md" };
/** Files that pages link to, and that are no pages. */
const linkedFiles = new Set();

export default defineConfig({
  title: "Holdfast",
  description: "AI agents that cannot be lost: durable agent loops in TypeScript, on Temporal.",
  lang: "en",
  head: [["link", { rel: "icon", href: "data:," }]],
  srcDir: "..",
  srcExclude: [...listOtherFolders().map((name) => `${name}/**`), ...UNLISTED, "examples/*/*/**"],
  outDir: "../.holdfast/site",
  cacheDir: "../.holdfast/site-cache",
  rewrites: (id) => rewritePath(id),
  // Long pages of the API reference.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  // A link to a page that does not exist fails the build.
  ignoreDeadLinks: false,
  markdown: {
    // As GitHub does, so that a link to a heading works in both places.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, "")
          .trim()
          .replace(/\s/g, "-"),
    },
    theme: { light: "github-light", dark: "github-dark" },
    config: (md) => {
      // Vue would evaluate what agent files put in braces.
      const escapeText = (text) => md.utils.escapeHtml(text).replaceAll("{{", "&#123;&#123;");
      md.renderer.rules.text = (tokens, index) => escapeText(tokens[index].content);
      md.renderer.rules.code_inline = (tokens, index) =>
        `<code v-pre>${escapeText(tokens[index].content)}</code>`;
      md.core.ruler.push("links-to-files", ({ tokens, env }) => rewriteLinks(tokens, env));
    },
  },
  themeConfig: {
    outline: [2, 3],
    nav: [
      { text: "Quickstart", link: "/quickstart" },
      { text: "Guide", link: "/agents" },
      { text: "API", link: "/api/" },
      { text: "Errors", link: "/errors" },
    ],
    sidebar: SECTIONS.map(({ text, pages }) => ({
      text,
      collapsed: false,
      items: pages.filter(([, link]) => pageExists(link)).map(([name, link]) => ({ text: name, link })),
    })),
    search: {
      provider: "local",
      options: {
        _render: (source, env, md) => (UNSEARCHED.test(env.relativePath) ? "" : md.render(source, env)),
      },
    },
  },
  buildEnd: ({ outDir }) => {
    for (const file of linkedFiles) {
      const copy = join(outDir, "files", `${file}.txt`);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(ROOT, file), copy);
    }
  },
});

function listOtherFolders() {
  return readdirSync(ROOT).filter(
    (name) => !["docs", "examples"].includes(name) && statSync(join(ROOT, name)).isDirectory(),
  );
}

/** Pages of `docs` are at the root of the site, and a README is the page of its folder. */
function rewritePath(id) {
  if (id === REPORTING.source) return REPORTING.page;
  return id.replace(/^docs\//, "").replace(/(^|\/)README\.md$/, "$1index.md");
}

function pageExists(link) {
  const path = link.endsWith("/") ? `${link}README` : link;
  return existsSync(join(ROOT, "docs", `${path}.md`)) || existsSync(join(ROOT, `${path}.md`));
}

/** Points each link to its page, or to a copy of a file that is none. A link to nothing fails the build. */
function rewriteLinks(tokens, env) {
  for (const token of tokens) {
    if (token.children !== null) rewriteLinks(token.children, env);
    const href = token.type === "link_open" ? token.attrGet("href") : null;
    if (href === null || /^(?:[a-z]+:|#|\/)/.test(href)) continue;
    const [path, hash = ""] = href.split(/(?=#)/);
    const source = findSource(relative(ROOT, env.realPath ?? env.path).replaceAll("\\", "/"));
    const file = findFile(posix.join(posix.dirname(source), decodeURI(path)));
    if (file === undefined) throw new Error(`${source} links to ${path}, which does not exist`);
    if (isPage(file)) {
      token.attrSet("href", `/${rewritePath(file).replace(/(?:(^|\/)index)?\.md$/, "$1")}${hash}`);
    } else {
      linkedFiles.add(file);
      token.attrSet("href", `/files/${file}.txt`);
      token.attrSet("target", "_self");
    }
  }
}

/** Returns the source of a page by its path on the site. */
function findSource(page) {
  if (page === REPORTING.page) return REPORTING.source;
  const names = [page, page.replace(/index\.md$/, "README.md")];
  return (
    [...names.map((name) => `docs/${name}`), ...names].find((name) => existsSync(join(ROOT, name))) ?? page
  );
}

/** Returns the path of a file below the root. A folder stands for its README or its program. */
function findFile(path) {
  const candidates = [path, posix.join(path, "README.md"), posix.join(path, "main.mjs")].map((one) =>
    posix.normalize(one),
  );
  return candidates.find((one) => existsSync(join(ROOT, one)) && statSync(join(ROOT, one)).isFile());
}

function isPage(file) {
  return file.endsWith(".md") && /^(?:docs|examples)\/|^[^/]+$/.test(file) && !UNLISTED.includes(file);
}
