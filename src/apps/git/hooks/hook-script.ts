import { createHash } from "node:crypto";
import { isAbsolute } from "node:path";

const MARK =
  /^#!\/bin\/sh\n# Installed by Holdfast \(prepare-commit-msg, sha256 ([0-9a-f]{64})\)\n([\s\S]*)$/;

/** Writes the script of the hook. @param command - The program that prints a message, and its arguments. */
export function writeHookScript(command: readonly [string, ...string[]]): string {
  const files = command.filter((word) => isAbsolute(word));
  const body = `# "holdfast git hook remove" removes it.

# It never stops a commit.
skip() {
  echo "holdfast: $1; the commit goes on without a generated message" >&2
  exit 0
}

# Git has a message already: of -m, -F, -c, an amend, a merge or a squash.
case "\${2-}" in
  '' | template) ;;
  *) exit 0 ;;
esac

${files.map((file) => `[ -e ${quote(file)} ] || skip ${quote(`${file} does not exist`)}\n`).join("")}message=$(${command.map(quote).join(" ")} </dev/null) || skip "no message was generated"
[ -n "$message" ] || skip "no message was generated"
{ printf '%s\\n' "$message" && cat "$1"; } >"$1.holdfast" && mv -f "$1.holdfast" "$1" || {
  rm -f "$1.holdfast"
  skip "the message could not be written"
}
`;
  return `#!/bin/sh\n# Installed by Holdfast (prepare-commit-msg, sha256 ${hash(body)})\n${body}`;
}

/** Whether Holdfast has written this hook, and nobody has changed it since. */
export function isOwnHook(script: string): boolean {
  const [, mark, body = ""] = MARK.exec(script) ?? [];
  return mark === hash(body);
}

function hash(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

/** Quotes a word for a shell, whatever it contains. */
function quote(word: string): string {
  return `'${word.replace(/'/g, "'\\''")}'`;
}
