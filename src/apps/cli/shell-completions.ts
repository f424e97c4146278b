import type { CommandNode, OptionNode } from "./command-tree.ts";

/** The shells that have completions. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof SHELLS)[number];

/** Formats the script that completes commands, options and their values. Everything else completes to a file. */
export function formatCompletions(shell: Shell, program: CommandNode): string {
  switch (shell) {
    case "bash":
      return formatBash(program);
    case "zsh":
      return formatZsh(program);
    case "fish":
      return formatFish(program);
  }
}

const HELP: OptionNode = {
  flags: "-h, --help",
  short: "-h",
  long: "--help",
  takesValue: false,
  choices: [],
  summary: "print help",
};

/** A command line up to its options: `job status`, or an empty text for the program itself. */
type Line = { readonly path: string; readonly node: CommandNode; readonly options: readonly OptionNode[] };

function listLines(program: CommandNode): readonly Line[] {
  const list = (node: CommandNode, path: string): readonly Line[] => [
    {
      path,
      node,
      options: path === "" ? [...node.options, HELP] : [...node.options, ...program.options, HELP],
    },
    ...node.commands.flatMap((one) =>
      [one.name, ...one.aliases].flatMap((name) => list(one, `${path} ${name}`.trim())),
    ),
  ];
  return list(program, "");
}

function formatBash(program: CommandNode): string {
  const lines = listLines(program);
  const words = lines.map(({ path, node, options }) => {
    const flags = options.flatMap(({ short, long }) => [long, short]).filter((flag) => flag !== undefined);
    const names = node.commands.flatMap(({ name, aliases }) => [name, ...aliases]);
    return `    ${quote(path)}) commands=${quote(names.join(" "))} options=${quote(flags.join(" "))} ;;`;
  });
  const choices = lines.flatMap(({ path, options }) =>
    options.flatMap(({ long, choices }) =>
      long === undefined || choices.length === 0
        ? []
        : [
            `    ${quote(`${path} ${long}`)}) COMPREPLY=($(compgen -W ${quote(choices.join(" "))} -- "$current")); return ;;`,
          ],
    ),
  );
  const valued = [
    ...new Set(
      lines.flatMap(({ options }) =>
        options.filter(({ takesValue }) => takesValue).flatMap(({ short, long }) => [short, long]),
      ),
    ),
  ].filter((flag) => flag !== undefined);
  return `# Completions of holdfast for bash. Load them with: source <(holdfast completion bash)

_holdfast() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  local line="" commands="" options="" word skip=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ -n "$skip" ]; then skip=""; continue; fi
    case $word in
      ${valued.join("|")}) skip=1 ;;
      -*) ;;
      *)
        if _holdfast_words "\${line:+$line }$word"; then line="\${line:+$line }$word"; else break; fi
        ;;
    esac
  done
  _holdfast_words "$line"
  COMPREPLY=()
  case "$line $previous" in
${choices.join("\n")}
  esac
  if [ -n "$skip" ]; then return; fi
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [ -n "$commands" ]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}

_holdfast_words() {
  case $1 in
${words.join("\n")}
    *) return 1 ;;
  esac
}

complete -o default -F _holdfast holdfast
`;
}

function formatZsh(program: CommandNode): string {
  const cases = listLines(program).map(({ path, node, options }) => {
    const flags = options.flatMap((option) =>
      [option.long, option.short]
        .filter((flag) => flag !== undefined)
        .map((flag) => describeZsh(flag, option.summary)),
    );
    const names = node.commands.flatMap(({ name, aliases, summary }) =>
      [name, ...aliases].map((one) => describeZsh(one, summary)),
    );
    return `    ${quote(path)})\n      commands=(${names.join(" ")})\n      options=(${flags.join(" ")})\n      ;;`;
  });
  return `#compdef holdfast
# Completions of holdfast for zsh. Load them with: source <(holdfast completion zsh)

_holdfast() {
  local -a commands options
  local line="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] && continue
    _holdfast_words "\${line:+$line }$word" && line="\${line:+$line }$word"
  done
  _holdfast_words "$line"
  if [[ $words[CURRENT] == -* ]]; then
    _describe option options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}

_holdfast_words() {
  case $1 in
${cases.join("\n")}
    *) return 1 ;;
  esac
}

if [[ $funcstack[1] == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`;
}

function describeZsh(name: string, summary: string): string {
  return quote(`${name.replace(/:/g, "\\:")}:${summary.replace(/:/g, "\\:")}`);
}

function formatFish(program: CommandNode): string {
  const lines = program.options.map((option) => formatFishOption("", { ...option }));
  for (const one of program.commands) {
    const names = [one.name, ...one.aliases].join(" ");
    for (const name of [one.name, ...one.aliases])
      lines.push(`complete -c holdfast -n __fish_use_subcommand -f -a ${name} -d ${quote(one.summary)}`);
    const within = `__fish_seen_subcommand_from ${names}`;
    lines.push(...one.options.map((option) => formatFishOption(within, option)));
    const below = one.commands.flatMap(({ name, aliases }) => [name, ...aliases]).join(" ");
    for (const { name, summary, options } of one.commands) {
      const alone = `${within}; and not __fish_seen_subcommand_from ${below}`;
      lines.push(`complete -c holdfast -n ${quote(alone)} -f -a ${name} -d ${quote(summary)}`);
      const both = `${within}; and __fish_seen_subcommand_from ${name}`;
      lines.push(...options.map((option) => formatFishOption(both, option)));
    }
  }
  return `# Completions of holdfast for fish. Load them with: holdfast completion fish | source

${lines.join("\n")}
`;
}

function formatFishOption(
  condition: string,
  { short, long, takesValue, choices, summary }: OptionNode,
): string {
  return [
    "complete -c holdfast",
    ...(condition === "" ? [] : [`-n ${quote(condition)}`]),
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
    ...(takesValue ? ["-r"] : []),
    ...(choices.length === 0 ? [] : [`-f -a ${quote(choices.join(" "))}`]),
    `-d ${quote(summary)}`,
  ].join(" ");
}

/** Quotes a text for a shell. Single quotes become typographic ones, which no shell interprets. */
function quote(text: string): string {
  return `'${text.replace(/'/g, "’")}'`;
}
