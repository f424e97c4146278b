// An agent reviews a branch from the command line; then its fault is mended and committed. Run it:
// node examples/git-review/main.mjs [--paste]
// With --paste, what is printed becomes the example of docs/git.md.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startModelServer, startTestServer } from "holdfast/testing";
import { check } from "../run-example.mjs";
import { createRepository } from "./repository.mjs";
import { createScript } from "./script.mjs";

const PAGE = fileURLToPath(new URL("../../docs/git.md", import.meta.url));
const EXAMPLE = /(```text\n\$ holdfast git review --base main --fail-on high\n)[\s\S]*?(\n```)/;

const HOLDFAST = fileURLToPath(new URL("../../dist/apps/cli/main.js", import.meta.url));

const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-git-review-")));
const repository = createRepository(join(folder, "queue"));
const server = await startTestServer();
const model = await startModelServer(createScript(repository));
try {
  const review = await holdfast("review", "--base", "main", "--fail-on", "high");
  console.log(review.out);
  if (process.argv.includes("--paste")) paste(review.out);
  check(
    "docs/git.md shows this review",
    readFileSync(PAGE, "utf8").includes(`--fail-on high\n${review.out}\n`),
  );
  check("findings of high severity fail the command", review.code === 1);
  check("the fault is found", review.out.includes("take(count) removes count + 1 jobs"));
  check("a claim whose evidence does not exist is dropped", !review.out.includes("The worker drops jobs"));
  check("every hunk is accounted for", /(\d+) of \1 hunks examined/.test(review.out + review.err));

  const file = join(repository.folder, "src/queue.mjs");
  writeFileSync(file, readFileSync(file, "utf8").replace("count + 1", "count"));
  repository.git("config", "user.name", "Ada");
  repository.git("config", "user.email", "ada@example.com");
  repository.git("add", "--all");
  const commit = await holdfast("commit", "--write");
  console.log(commit.out);
  const [subject, parent] = repository.git("log", "-1", "--format=%s%n%P").split("\n");
  check("the commit is made", commit.code === 0 && subject === "Take the number of jobs that is asked for");
  check("its parent is the head that was reviewed", parent === repository.head);
  check("no answer was paid for twice", model.answersRepaid() === 0);
} finally {
  await model.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function paste(text) {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(
    PAGE,
    page.replace(EXAMPLE, (_, before, after) => before + text + after),
  );
}

/** Runs `holdfast git` as at a terminal, with the scripted model in place of a vendor's. */
function holdfast(command, ...flags) {
  const connection = [
    "--address",
    server.address,
    "--namespace",
    server.namespace,
    "--home",
    join(folder, "home"),
  ];
  const vendor = ["--model", "local/scripted", "--base-url", model.openaiBaseUrl];
  const args = [HOLDFAST, ...connection, "git", command, "--repo", repository.folder, ...vendor, ...flags];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, out, err) => {
      resolve({ code: error === null ? 0 : error.code, out: out.trim(), err });
    });
  });
}
