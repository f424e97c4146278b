import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { findGitFolder, type GitFolders } from "./find-git-folder.ts";

const Answer = z.object({
  /** The work tree's real path. */
  path: z.string(),
  identity: z.string(),
  isTrusted: z.boolean(),
});
const Answers = z.object({ repositories: z.array(Answer) });
type Answer = z.infer<typeof Answer>;

const FILE = "trusted-repositories.json";

/** What a user has answered about a repository. `unknown`: nobody has been asked. */
export type Trust = "trusted" | "untrusted" | "unknown";

/**
 * The answers of a user to "do you trust this repository?", in the home folder. An answer is bound to the path of the work
 * tree and to the identity of its git folder: another repository at the same path is asked about anew.
 */
export class TrustStore {
  readonly #folder: string;

  /** @param folder - The home folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads the answer about the repository that contains a folder. */
  async read(folder: string): Promise<Trust> {
    const { path, identity } = await identify(folder);
    const answer = (await this.#load()).find((one) => one.path === path && one.identity === identity);
    if (answer === undefined) return "unknown";
    return answer.isTrusted ? "trusted" : "untrusted";
  }

  /** Stores an answer, in place of an earlier one. */
  async store(folder: string, isTrusted: boolean): Promise<void> {
    const answer = { ...(await identify(folder)), isTrusted };
    const others = (await this.#load()).filter(({ path }) => path !== answer.path);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = join(this.#folder, FILE);
    const next = `${file}.${process.pid}`;
    await writeFile(next, `${JSON.stringify({ repositories: [...others, answer] }, undefined, 2)}\n`, {
      mode: 0o600,
    });
    await rename(next, file);
  }

  /** Returns whether the repository is trusted, and asks if nobody has been asked before. */
  async resolve(folder: string, ask: (path: string) => Promise<boolean>): Promise<boolean> {
    const known = await this.read(folder);
    if (known !== "unknown") return known === "trusted";
    const isTrusted = await ask((await findGitFolder(folder)).top);
    await this.store(folder, isTrusted);
    return isTrusted;
  }

  async #load(): Promise<readonly Answer[]> {
    const file = join(this.#folder, FILE);
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return '{"repositories":[]}';
      throw error;
    });
    return Answers.parse(JSON.parse(text)).repositories;
  }
}

async function identify(folder: string): Promise<{ path: string; identity: string }> {
  const folders = await findGitFolder(folder);
  return { path: folders.top, identity: await readIdentity(folders) };
}

/** A folder that is removed and made again is another one, even under the same inode. */
async function readIdentity({ commonFolder, gitFolder }: GitFolders): Promise<string> {
  const [common, own] = await Promise.all(
    [commonFolder, gitFolder].map(async (folder) => await stat(folder, { bigint: true })),
  );
  return [common, own].map((stats) => `${stats?.ino}:${stats?.birthtimeNs}`).join("/");
}
