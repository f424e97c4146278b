// Finds the equivalents of a command for rules that ask or deny: without the options before its subcommand, with other
// names of that subcommand, and with any subcommand that an unknown option may hide.

/** The words that are compared with a rule's words: no options. */
export type EquivalentCommand = readonly string[];

type ProgramSyntax = {
  /** Options before the subcommand whose value is the next word. */
  readonly values?: string;
  /** Options before the subcommand that take no value. */
  readonly flags?: string;
  /** Options after which the subcommand may be anything. */
  readonly rejectedOptions?: RegExp;
  /** The program's own subcommands. Any other word may be an alias of one. */
  readonly subcommands?: ReadonlySet<string>;
  /** Names of the same subcommand, one group per line. */
  readonly aliases?: readonly (readonly string[])[];
  /** Subcommands that only name a group: `docker container rm` is `docker rm`. */
  readonly groups?: readonly string[];
  /** `yarn build` is `yarn run build`. */
  readonly runsScripts?: true;
};

/** Matches any subcommand. */
const ANY_SUBCOMMAND = "*";
/** The largest number of equivalents. A command with more may be anything. */
const MAX_EQUIVALENTS = 24;

const splitWords = (text: string) => text.split(" ");
const toSet = (text: string): ReadonlySet<string> => new Set(splitWords(text));

const GIT_COMMANDS = toSet(
  "add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap " +
    "check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column commit commit-graph " +
    "commit-tree config count-objects credential credential-cache credential-store daemon describe diagnose diff " +
    "diff-files diff-index diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg " +
    "for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id grep gui hash-object help hook http-backend " +
    "imap-send index-pack init init-db instaweb interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo " +
    "mailsplit maintenance merge merge-base merge-file merge-index merge-tree mergetool mktag mktree multi-pack-index " +
    "mv name-rev notes p4 pack-objects pack-refs patch-id prune prune-packed pull push quiltimport range-diff " +
    "read-tree rebase receive-pack reflog refs remote repack replace replay request-pull rerere reset restore " +
    "rev-list rev-parse revert rm send-email send-pack shortlog show show-branch show-index show-ref " +
    "sparse-checkout stage stash status stripspace submodule switch symbolic-ref tag unpack-file unpack-objects " +
    "update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag " +
    "version whatchanged worktree write-tree",
);
const NPM_COMMANDS = toSet(
  "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec explain " +
    "explore find-dupes fund get help help-search hook init install install-ci-test install-test link ll login " +
    "logout ls org outdated owner pack ping pkg prefix profile prune publish query rebuild repo restart root run " +
    "run-script sbom search set shrinkwrap star stars start stop team test token trust undeprecate uninstall " +
    "unpublish unstar update version view whoami i in ins inst insta instal isnt isnta isntal isntall add rum urn t " +
    "tst r remove rm un unlink up upgrade udpate c x create innit cit clean-install ic install-clean isntall-clean " +
    "it sit ln la list show info v find s se author add-user ddp dist-tags issues home rb why ogr unset verison",
);

const DOCKER: ProgramSyntax = {
  values:
    "-c --context -H --host -l --log-level --config --tlscacert --tlscert --tlskey --connection --url --root",
  flags: "-D --debug --tls --tlsverify -v --version --remote",
  groups: ["container", "image", "system"],
  aliases: [
    ["rmi", "image rm", "image remove"],
    ["rm", "container rm", "container remove"],
    ["ps", "container ls", "container list", "container ps"],
    ["images", "image ls", "image list"],
  ],
};
const KUBECTL: ProgramSyntax = {
  values:
    "-n --namespace --context --cluster --user -s --server --kubeconfig --token --as --as-group --as-uid --cache-dir " +
    "--certificate-authority --client-certificate --client-key --request-timeout --tls-server-name --username " +
    "--password --profile --profile-output -v --v --vmodule --kube-context --kube-apiserver --kube-token " +
    "--registry-config --repository-cache --repository-config",
  flags:
    "--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression --debug",
};
const NPM: ProgramSyntax = {
  values:
    "--prefix -C --registry --loglevel -w --workspace --userconfig --globalconfig --cache --tag --access --otp " +
    "--script-shell --omit --include",
  flags:
    "-s --silent -q --quiet -d -dd -ddd --verbose -g --global --json -y --yes -f --force --no-audit --no-fund " +
    "--ignore-scripts --offline --prefer-offline --workspaces -ws --if-present --dry-run --no-save",
  subcommands: NPM_COMMANDS,
  aliases: [
    splitWords("install i in ins inst insta instal isnt isnta isntal isntall add"),
    splitWords("run run-script rum urn"),
    splitWords("test t tst"),
    splitWords("uninstall r remove rm un unlink"),
    splitWords("update up upgrade udpate"),
    splitWords("config c get set"),
    splitWords("exec x"),
    splitWords("init create innit"),
    splitWords("ci cit clean-install ic install-clean isntall-clean install-ci-test sit"),
    splitWords("adduser login add-user"),
    splitWords("link ln"),
  ],
};
const SCRIPT_RUNNERS: ProgramSyntax = {
  values: "--cwd --prefix -C --dir --filter -F -w --registry --cache-folder --use-yarnrc --config -c",
  flags: "-s --silent --verbose -r --recursive --offline --json --no-color -w --workspace-root --if-present",
  runsScripts: true,
  aliases: [
    splitWords("install i add"),
    splitWords("run run-script"),
    splitWords("remove rm uninstall un"),
    splitWords("exec x dlx"),
  ],
};

const PROGRAMS: Readonly<Record<string, ProgramSyntax>> = {
  git: {
    values: "-C --git-dir --work-tree --namespace --super-prefix --attr-source --list-cmds",
    flags:
      "-p --paginate -P --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice " +
      "--literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --html-path --man-path --info-path " +
      "-v --version -h --help --exec-path",
    rejectedOptions: /^(-c.*|--config-env(=.*)?|--exec-path=.*)$/,
    subcommands: GIT_COMMANDS,
  },
  docker: DOCKER,
  podman: DOCKER,
  nerdctl: DOCKER,
  kubectl: KUBECTL,
  oc: KUBECTL,
  helm: KUBECTL,
  npm: NPM,
  yarn: SCRIPT_RUNNERS,
  pnpm: SCRIPT_RUNNERS,
  bun: SCRIPT_RUNNERS,
  cargo: {
    values: "--color --config -Z -C",
    flags: "-q --quiet -v -vv --verbose --offline --locked --frozen -V --version",
    aliases: [
      splitWords("build b"),
      splitWords("check c"),
      splitWords("doc d"),
      splitWords("test t"),
      splitWords("run r"),
      splitWords("remove rm"),
    ],
  },
  systemctl: {
    values:
      "-H --host -M --machine -t --type -p --property --root --state -n --lines -o --output -s --signal",
    flags: "--user --system --now --no-pager -q --quiet -f --force --no-block --no-ask-password -l --full",
  },
  aws: {
    values:
      "--profile --region --output --endpoint-url --color --query --ca-bundle --cli-read-timeout " +
      "--cli-connect-timeout --cli-binary-format",
    flags: "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager",
  },
  gcloud: {
    values:
      "--project --account --configuration --format --verbosity --billing-project --impersonate-service-account",
    flags: "-q --quiet --log-http --user-output-enabled",
  },
  go: { values: "-C" },
  gh: { values: "-R --repo --hostname" },
};

/** Programs whose names have a version or another spelling. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/^pip[\d.]+$/, "pip"],
  [/^python[\d.]+$/, "python"],
];

/** Finds the equivalents of a command. Its first word is the program's name without its folder. */
export function findEquivalentCommands(given: readonly string[]): readonly EquivalentCommand[] {
  const [name = "", ...args] = given;
  const file = name.slice(name.lastIndexOf("/") + 1);
  if (file === "" || args.length === 0) return file.includes("-") ? expandHyphenated(file, args) : [];
  const found = [
    file,
    ...SPELLINGS.filter(([spelled]) => spelled.test(file)).map(([, program]) => program),
  ].flatMap((program) => [...expandOptions(program, args), ...expandModules(program, args)]);
  const all = removeDuplicates([...found, ...expandHyphenated(file, args)]);
  return all.length <= MAX_EQUIVALENTS ? all : [[file, ANY_SUBCOMMAND]];
}

/** `git-push` is `git push`. */
function expandHyphenated(file: string, args: readonly string[]): readonly EquivalentCommand[] {
  const at = file.indexOf("-");
  const program = file.slice(0, at);
  if (at <= 0 || !Object.hasOwn(PROGRAMS, program)) return [];
  return expandOptions(program, [file.slice(at + 1), ...args]);
}

/** `python -m pip install` is `pip install`. */
function expandModules(program: string, args: readonly string[]): readonly EquivalentCommand[] {
  const at = args.indexOf("-m");
  const module = args[at + 1];
  if (at < 0 || module === undefined || !/^(python|pypy)/.test(program)) return [];
  return expandOptions(module, args.slice(at + 2));
}

function expandOptions(program: string, args: readonly string[]): readonly EquivalentCommand[] {
  const table: ProgramSyntax = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program]! : {};
  const { values = "", flags = "", rejectedOptions } = table;
  const [valueOptions, flagOptions] = [splitWords(values), splitWords(flags)];
  let at = 0;
  let unknown = 0;
  for (; at < args.length && /^[-+]./.test(args[at]!); at += 1) {
    const option = args[at]!;
    if (option === "--") {
      at += 1;
      break;
    }
    if (rejectedOptions?.test(option) === true) return [[program, ANY_SUBCOMMAND]];
    if (valueOptions.includes(option)) at += 1;
    else if (!option.includes("=") && !flagOptions.includes(option) && !option.startsWith("+")) unknown += 1;
  }
  const rest = args.slice(at);
  // An unknown option may have taken any of the following words as its value.
  const operands = rest.filter((word) => !/^-./.test(word));
  return Array.from({ length: Math.min(unknown, MAX_EQUIVALENTS) + 1 }, (_, skipped) =>
    operands.slice(skipped),
  ).flatMap((remaining) => (remaining.length === 0 ? [] : expandAliases(program, table, remaining)));
}

function expandAliases(
  program: string,
  table: ProgramSyntax,
  operands: readonly string[],
): readonly EquivalentCommand[] {
  const [subcommand = "", ...rest] = operands;
  const { subcommands, aliases = [], groups = [], runsScripts = false } = table;
  if (subcommands !== undefined && !subcommands.has(subcommand)) return [[program, ANY_SUBCOMMAND]];
  const same = aliases.flatMap((group) =>
    group.flatMap((alias) => {
      const given = splitWords(alias);
      if (!given.every((word, index) => operands[index] === word)) return [];
      return group.map((other) => [program, ...splitWords(other), ...operands.slice(given.length)]);
    }),
  );
  return [
    [program, ...operands],
    ...same,
    ...(groups.includes(subcommand) && rest.length > 0 ? [[program, ...rest]] : []),
    ...groups.map((group) => [program, group, ...operands]),
    ...(runsScripts && subcommand !== "run" ? [[program, "run", ...operands]] : []),
  ];
}

function removeDuplicates(lists: readonly EquivalentCommand[]): readonly EquivalentCommand[] {
  const seen = new Set<string>();
  return lists.filter((list) => {
    const key = JSON.stringify(list);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
