import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { formatProblem, HoldfastError, readCheckedFile } from "../../client/index.ts";

const name = z.string().min(1);

/** The content of `git.toml`. A command line option replaces a setting. */
const GitSettings = z.strictObject({
  model: name.optional().describe("A model's full name, such as anthropic/claude-opus-5-5."),
  provider: name.optional().describe("anthropic, openai or google, for its newest models."),
  subagent_model: name.optional().describe('"fast" (the default), "main", or a model\'s full name.'),
  subagent_max_turns: z.number().int().min(1).max(100).optional(),
  subagent_timeout_secs: z.number().int().min(1).optional(),
  critic: z.boolean().optional().describe("Whether a critic judges what is published; true by default."),
  preset: name.optional().describe("The style."),
  gitmoji: z.boolean().optional(),
});
export type GitSettings = z.infer<typeof GitSettings>;

/** Reads `git.toml` of the user, then that of a trusted repository, whose values replace the user's. */
export function readGitSettings(home: string, repository: string | undefined): GitSettings {
  const files = [
    join(home, "git.toml"),
    ...(repository === undefined ? [] : [join(repository, ".holdfast", "git.toml")]),
  ];
  const settings: GitSettings = {};
  for (const file of files.filter((one) => existsSync(one))) {
    const read = readCheckedFile(file, { schema: GitSettings });
    if (!read.ok) {
      const problems = read.problems.map((one) => formatProblem(one));
      throw new HoldfastError("definition-invalid", problems.join("\n"), { problems });
    }
    Object.assign(settings, read.value);
  }
  return settings;
}
