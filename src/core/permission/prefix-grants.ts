import type { CallFacts, CommandFact } from "./call-facts.ts";
import type { Grant, GrantedCall } from "./grants.ts";

// Grants as runs of rule set 1 give and read them: a command is covered when it begins with granted words. Runs that
// began so are replayed so; see grants.ts for all others.

export function grantByPrefix({ name, facts }: GrantedCall): Grant | undefined {
  if (facts === undefined) return { tool: name };
  if (!isPlain(facts)) return undefined;
  const kinds = (facts.commands ?? []).map(kindOf);
  if (kinds.length === 0) return { tool: name };
  const named = kinds.filter((kind) => kind !== undefined);
  return named.length < kinds.length ? undefined : { tool: name, commands: named };
}

export function isGrantedByPrefix(grants: readonly Grant[], { name, facts }: GrantedCall): boolean {
  const own = grants.filter(({ tool }) => tool === name);
  if (own.length === 0 || (facts !== undefined && !isPlain(facts))) return false;
  const commands = facts?.commands ?? [];
  if (commands.length === 0) {
    return own.some((grant) =>
      [grant.commands, grant.exact, grant.hosts].every((list) => list === undefined),
    );
  }
  const allowed = own.flatMap((grant) => grant.commands ?? []).filter(({ length }) => length > 0);
  return commands.every(({ words }) =>
    allowed.some((prefix) => prefix.every((word, at) => words[at] === word)),
  );
}

function isPlain({ opaque, cut, paths = [], commands = [] }: CallFacts): boolean {
  if (opaque !== undefined || cut === true) return false;
  return (
    paths.every(({ inside }) => inside) &&
    commands.every(({ words, fixed }) => words.length > 0 && fixed === undefined)
  );
}

/** Programs whose second word says what they do: a subcommand, or the script that they run. */
const SAID_BY_SECOND_WORD: ReadonlySet<string> = new Set(
  (
    "apt apt-get aws brew bun cargo docker gcloud gh git go helm kubectl make npm npx pip pnpm podman systemctl " +
    "terraform uv yarn bash deno java node perl php python python3 ruby sh zsh"
  ).split(" "),
);

function kindOf({ words }: CommandFact): readonly string[] | undefined {
  const [program = "", second = ""] = words;
  if (!SAID_BY_SECOND_WORD.has(program)) return [program];
  return second === "" || second.startsWith("-") ? undefined : [program, second];
}
