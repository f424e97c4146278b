import { mkdir, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const Answer = z.object({
  /** The folder's real path. */
  path: z.string(),
  identity: z.string(),
  sandbox: z.literal("off"),
  answeredAt: z.iso.datetime(),
});
const Answers = z.object({ folders: z.array(Answer) });
export type SandboxAnswer = z.infer<typeof Answer>;

const FILE = "sandbox-answers.json";

/**
 * The folders in which a user runs agents without a sandbox, because the host cannot make one. Stored in the home folder. A
 * folder that is removed and made again is another one.
 */
export class SandboxAnswers {
  readonly #home: string;
  readonly file: string;

  /** @param home - The home folder. */
  constructor(home: string) {
    this.#home = home;
    this.file = join(home, FILE);
  }

  async read(folder: string): Promise<SandboxAnswer | undefined> {
    const { path, identity } = await identify(folder);
    return (await this.#load()).find((answer) => answer.path === path && answer.identity === identity);
  }

  async store(folder: string, now: Date): Promise<void> {
    const place = await identify(folder);
    const answer: SandboxAnswer = { ...place, sandbox: "off", answeredAt: now.toISOString() };
    const others = (await this.#load()).filter(({ path }) => path !== answer.path);
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
    const next = `${this.file}.${process.pid}`;
    const text = `${JSON.stringify({ folders: [...others, answer] }, undefined, 2)}\n`;
    await writeFile(next, text, { mode: 0o600 });
    await rename(next, this.file);
  }

  /** A file that is damaged has no answers: the user is asked again. */
  async #load(): Promise<readonly SandboxAnswer[]> {
    try {
      return Answers.parse(JSON.parse(await readFile(this.file, "utf8"))).folders;
    } catch {
      return [];
    }
  }
}

async function identify(folder: string): Promise<{ readonly path: string; readonly identity: string }> {
  const path = await realpath(folder);
  const { ino, birthtimeNs } = await stat(path, { bigint: true });
  return { path, identity: `${ino}:${birthtimeNs}` };
}
