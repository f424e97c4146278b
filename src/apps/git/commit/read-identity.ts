import { readUserConfig, type UserEnvironment } from "../repository/read-user-config.ts";
import type { Repository } from "../repository/repository.ts";

export type Identity = { readonly name: string; readonly email: string };

export type IdentityResult =
  | { readonly type: "known"; readonly identity: Identity }
  /** `message` says what to do. */
  | { readonly type: "missing"; readonly message: string };

const KEYS = "^(user|author|committer)\\.(name|email)$";

/**
 * Reads who the user is, in git's order: the environment, the repository's settings, those of the user. The repository's are
 * read as data.
 *
 * @param environment - The user's: it says where their settings are.
 */
export async function readIdentity(
  repository: Repository,
  role: "author" | "committer" = "committer",
  environment: UserEnvironment = process.env,
): Promise<IdentityResult> {
  const settings = await readUserConfig(repository, KEYS, "user", environment);
  const own = new Map(settings.map(({ key, value }) => [key, value]));
  const find = (field: "name" | "email") => {
    const named = environment[`GIT_${role.toUpperCase()}_${field.toUpperCase()}`];
    const keys = [`${role}.${field}`, `user.${field}`];
    const values = keys.flatMap((key) => [repository.config.get(key)?.at(-1), own.get(key)]);
    return [named, ...values].find((value) => value !== undefined && value.trim() !== "");
  };
  const [name, email] = [find("name"), find("email")];
  if (name !== undefined && email !== undefined) return { type: "known", identity: { name, email } };
  const missing = [
    ...(name === undefined ? ['git config --global user.name "Your Name"'] : []),
    ...(email === undefined ? ['git config --global user.email "you@example.com"'] : []),
  ];
  const message = `Git does not know who you are, so that no commit is made. Run: ${missing.join(" && ")}`;
  return { type: "missing", message };
}
