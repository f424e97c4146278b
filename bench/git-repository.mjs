// Builds the repositories of the benchmarks of git work.
import { execFileSync } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Builds a repository of one commit, whose files import and use each other. */
export async function buildLargeRepository(files) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-git-"));
  runGit(folder, ["init", "--quiet", "--initial-branch=main"]);
  const stream = ["commit refs/heads/main\ncommitter B <b@example.com> 1700000000 +0000\ndata 3\nOne\n"];
  for (let nth = 0; nth < files; nth++) {
    const text = writeSource(nth, files);
    stream.push(`M 100644 inline ${findPath(nth)}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  }
  runGit(folder, ["fast-import", "--quiet"], stream.join(""));
  runGit(folder, ["reset", "--quiet", "--hard", "main"]);
  return folder;
}

/** Adds a commit with a hunk in each of the first files, and returns its paths and the ids of its two sides. */
export function commitChange(folder, files, total) {
  const stream = [
    "commit refs/heads/main\ncommitter B <b@example.com> 1700000001 +0000\ndata 3\nTwo\nfrom refs/heads/main^0\n",
  ];
  const paths = Array.from({ length: files }, (_, nth) => findPath(nth));
  for (const [nth, path] of paths.entries()) {
    const text = `${writeSource(nth, total)}export const version${nth} = 2;\n`;
    stream.push(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  }
  const base = readCommit(folder);
  runGit(folder, ["fast-import", "--quiet"], stream.join(""));
  runGit(folder, ["reset", "--quiet", "--hard", "main"]);
  return { paths, base, head: readCommit(folder) };
}

function readCommit(folder) {
  return runGit(folder, ["rev-parse", "main"]).toString().trim();
}

function runGit(folder, args, input) {
  return execFileSync("git", args, { cwd: folder, input, stdio: "pipe", maxBuffer: 1e9 });
}

function findPath(nth) {
  return `src/module-${nth % 40}/part-${nth}.ts`;
}

function writeSource(nth, files) {
  const used = [1, 7, 31].map((step) => (nth * step + step) % files);
  const imports = used.map((at) => `import { compute${at} } from "../module-${at % 40}/part-${at}.ts";`);
  const functions = ["compute", "format", "parse", "check"].map((verb) =>
    [
      `/** Returns what number ${nth} of ${verb} says. */`,
      `export function ${verb}${nth}(value: number, options: Options${nth} = {}): number {`,
      `  const base = ${used.map((at) => `compute${at}(value)`).join(" + ")};`,
      "  if (options.isStrict === true && base < 0) throw new RangeError(`$" + "{base} is below zero`);",
      "  return base * (options.factor ?? 1);",
      "}",
      "",
    ].join("\n"),
  );
  const type = `export type Options${nth} = { readonly isStrict?: boolean; readonly factor?: number };\n`;
  return [...imports, "", type, ...functions].join("\n");
}
