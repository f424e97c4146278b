import type { Repository } from "../repository/repository.ts";
import { runGit } from "../repository/run-git.ts";

export type Commit = {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly email: string;
  /** ISO 8601, with the author's own offset. */
  readonly date: string;
  readonly subject: string;
  /** The message after its subject, without blank lines around it. */
  readonly body: string;
};

export type CommitQuery = {
  /** Ids of commits. */
  readonly from?: string | undefined;
  readonly to: string;
  readonly count: number;
  readonly skip?: number;
  readonly path?: string | undefined;
};

/** A message that is longer is cut: a commit object may have any size. */
const MAX_MESSAGE_CHARS = 20_000;
const MAX_LOG_BYTES = 16 * 1024 * 1024;

const FORMAT = ["%H", "%P", "%an", "%ae", "%aI", "%B"].join("%n");

/** Reads commits, the newest first: those of `to` that `from` does not contain. */
export async function readCommits(
  repository: Repository,
  { from, to, count, skip = 0, path }: CommitQuery,
): Promise<readonly Commit[]> {
  const options = [
    "-z",
    `--format=${FORMAT}`,
    `--max-count=${count}`,
    `--skip=${skip}`,
    "--no-show-signature",
  ];
  const range = from === undefined ? [to] : [to, `^${from}`];
  const paths = path === undefined ? [] : [path];
  const { stdout } = await runGit(repository, ["log", ...options, ...range, "--", ...paths], {
    maxBytes: MAX_LOG_BYTES,
  });
  return stdout
    .toString("utf8")
    .split("\0")
    .filter((record) => record !== "")
    .map(parseCommit);
}

function parseCommit(record: string): Commit {
  const [id = "", parents = "", author = "", email = "", date = "", ...message] = record.split("\n");
  const text = message.join("\n").slice(0, MAX_MESSAGE_CHARS);
  // The subject is the first paragraph, as for git.
  const [, subject = "", body = ""] = /^\s*([^\n]*(?:\n[^\n]*\S[^\n]*)*)([\s\S]*)$/.exec(text) ?? [];
  return {
    id,
    parents: parents.split(" ").filter((one) => one !== ""),
    author,
    email,
    date,
    subject: subject
      .split("\n")
      .map((line) => line.trim())
      .join(" "),
    body: body.trim(),
  };
}
