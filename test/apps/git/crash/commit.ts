import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readPromptNotes } from "../../../../src/apps/git/runs/run-plan.ts";
import type { ModelScript } from "../../../../src/testing/index.ts";
import { createReviewedRepository } from "../reviewed-repository.ts";
import { type CommandEnd, type CommandKill, KillingGit, startCommand } from "./command.ts";
import type { Stage } from "./stage.ts";
import { readAll } from "./stored-answers.ts";

const WHO = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "C",
  GIT_COMMITTER_EMAIL: "c@example.com",
};

const MESSAGE = "Add six\n\nIt was missing.\n";

const SCRIPT: ModelScript = {
  conversations: [
    {
      match: "Judge whether an artifact",
      replies: [
        {
          text: JSON.stringify({ requires_revision: false, issues: [], revision_prompt: "", confidence: 90 }),
        },
      ],
    },
    {
      match: "Generate a commit message",
      replies: [
        { toolCalls: [{ name: "git_diff", arguments: { detail: "standard" } }] },
        { text: JSON.stringify({ title: "Add six", message: "It was missing." }) },
      ],
    },
  ],
};

/** A commit that the command has made, or what is wrong with it. */
export type CommitTrace = {
  readonly artifact: unknown;
  readonly tree: string;
  /** The commit's id, and the id that git gives to the commit of the plan, which was fixed before its message was written. */
  readonly commit: string;
  readonly expected: string;
  readonly problems: readonly string[];
  /** The calls of git by the command's first process. */
  readonly gitCalls: readonly string[];
  readonly wasKilled: boolean;
};

/** Plays `holdfast git commit --write --critic`, each time in a copy of the same repository. */
export class CommitPlayer {
  readonly #stage: Stage;
  readonly #template: string;

  constructor(stage: Stage) {
    this.#stage = stage;
    const { folder, write, git } = createReviewedRepository();
    write("six.ts", "export const six = 6;\n");
    git("add", "six.ts");
    this.#template = folder;
  }

  /** @param kill - Where the process of the command dies; `resume` then ends its work. */
  async play(session: string, kill?: CommandKill): Promise<CommitTrace> {
    const { home, vendor } = this.#stage;
    vendor.model.script(SCRIPT);
    const folder = mkdtempSync(join(home, "commit-"));
    const repository = join(folder, "repository");
    cpSync(this.#template, repository, { recursive: true });
    const git = new KillingGit(folder, kill);
    const command = this.#start(repository, session, [git.folder]);
    vendor.begin((nth) => {
      if (kill?.at === "request" && kill.nth === nth) command.kill();
    });
    const first = await command.ended;
    const gitCalls = git.listCalls();
    const wasKilled = first.signal === "SIGKILL";
    const last = wasKilled ? await this.#resume(repository, session) : first;
    const trace = await this.#read(repository, session, last);
    rmSync(folder, { recursive: true });
    return { ...trace, gitCalls, wasKilled };
  }

  remove(): void {
    rmSync(this.#template, { recursive: true });
  }

  #start(repository: string, session: string, path: readonly string[] = []) {
    const { connection, vendor } = this.#stage;
    const model = ["--model", "local/test-model", "--base-url", vendor.model.openaiBaseUrl];
    const place = ["--repo", repository, "--session", session];
    return startCommand(
      ["git", "commit", "--write", "--critic", "--json", ...place, ...model, ...connection],
      WHO,
      path,
    );
  }

  /** Ends the work of a killed command; a command that died before its prompt was sent is given again. */
  async #resume(repository: string, session: string): Promise<CommandEnd> {
    const resumed = await startCommand(["git", "resume", session, "--json", ...this.#stage.connection], WHO)
      .ended;
    return resumed.code === 2 ? await this.#start(repository, session).ended : resumed;
  }

  async #read(repository: string, session: string, { code, lines, stderr }: CommandEnd) {
    const git = (args: readonly string[], options: { input?: string; env?: NodeJS.ProcessEnv } = {}) =>
      execFileSync("git", ["-C", repository, ...args], {
        encoding: "utf8",
        input: options.input ?? "",
        env: { ...process.env, ...options.env },
      }).trim();
    const made = lines.find(({ type }) => type === "result")?.["artifact"];
    const commits = git(["rev-list", "--count", "--all"]);
    const moves = git(["reflog", "--format=%gs", "main"]).match(/Add six/g)?.length ?? 0;
    const checks: readonly (readonly [boolean, string])[] = [
      [code === 0, `exit code ${code}: ${stderr}`],
      [commits === "3", `${commits} commits, not 3`],
      [moves === 1, `the branch was moved ${moves} times`],
      [git(["fsck", "--strict", "--no-dangling"]) === "", "git fsck reports problems"],
      [git(["status", "--porcelain"]) === "", "something is not committed"],
    ];
    return {
      artifact: made,
      tree: git(["rev-parse", "main^{tree}"]),
      commit: git(["rev-parse", "main"]),
      expected: await this.#computeCommit(session, git),
      problems: checks.flatMap(([holds, problem]) => (holds ? [] : [problem])),
    };
  }

  /** Has git itself make the commit of the plan that stands in the record. */
  async #computeCommit(
    session: string,
    git: (args: readonly string[], options: { input?: string; env?: NodeJS.ProcessEnv }) => string,
  ): Promise<string> {
    const [first] = await readAll(this.#stage.transcript, session);
    const notes = first?.message.role === "user" ? readPromptNotes(first.message.metadata) : undefined;
    const written = notes?.plan?.output?.["written"] as Written | undefined;
    if (written === undefined) return "no plan in the record";
    const { plan, author, committer } = written;
    const parents = plan.parents.flatMap((parent) => ["-p", parent]);
    const env = {
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: `@${author.time} ${author.zone}`,
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      GIT_COMMITTER_DATE: `@${committer.time} ${committer.zone}`,
    };
    return git(["commit-tree", plan.tree, ...parents], { input: MESSAGE, env });
  }
}

type Who = { readonly name: string; readonly email: string; readonly time: number; readonly zone: string };
type Written = {
  readonly plan: { readonly tree: string; readonly parents: readonly string[] };
  readonly author: Who;
  readonly committer: Who;
};
