// A small repository whose last commit has a fault. Its commits have fixed dates, and so the same ids each time.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const DATE = "2026-11-26T12:00:00Z";
const ENVIRONMENT = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_AUTHOR_DATE: DATE,
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.com",
  GIT_COMMITTER_DATE: DATE,
};

const QUEUE = `/** Jobs in the order in which they came. */
export class Queue {
  #jobs = [];

  add(job) {
    this.#jobs.push(job);
  }

  take() {
    return this.#jobs.shift();
  }
}
`;

const FAULTY_QUEUE = QUEUE.replace(
  "  take() {\n    return this.#jobs.shift();\n  }\n",
  "  /** Takes at most this many jobs. */\n  take(count = 1) {\n    return this.#jobs.splice(0, count + 1);\n  }\n",
);

const TEST = `import { Queue } from "./queue.mjs";

const queue = new Queue();
queue.add("first");
if (queue.take() !== "first") throw new Error("The first job is taken first.");
`;

/** Makes the repository in a new folder, with the branches `main` and, checked out, `take-many`. */
export function createRepository(folder) {
  const git = (...args) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", env: ENVIRONMENT }).trim();
  const commit = (files, message) => {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    git("add", "--all");
    git("commit", "--quiet", "--message", message);
    return git("rev-parse", "HEAD");
  };
  mkdirSync(join(folder, "src"), { recursive: true });
  git("init", "--quiet", "--initial-branch", "main");
  const base = commit({ "src/queue.mjs": QUEUE, "src/queue.test.mjs": TEST }, "Add a queue of jobs");
  git("checkout", "--quiet", "-b", "take-many");
  const lock = '{ "lockfileVersion": 3 }\n';
  const head = commit(
    { "src/queue.mjs": FAULTY_QUEUE, "package-lock.json": lock },
    "Take several jobs at once",
  );
  return { folder, base, head, git };
}
