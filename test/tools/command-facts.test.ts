import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { array, assert, asyncProperty, constantFrom, record, string } from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_FACTS_CHARS } from "../../src/core/permission/call-facts.ts";
import { collectCommandFacts } from "../../src/tools/shell/command-facts.ts";
import { readScript } from "../../src/tools/shell/read-script.ts";
import { getRunCount } from "../support/test-depth.ts";
import { BashWatcher } from "./bash-watcher.ts";

const RUNS = getRunCount(2000);
const words = (command: string) => readScript(command).commands.map((fact) => fact.words);
const real = (command: string) =>
  readScript(command)
    .commands.filter(({ isWrapper }) => isWrapper === undefined)
    .map((fact) => fact.words.join(" "));

describe("commands whose meaning is certain", () => {
  test.each<[string, string[][]]>([
    ["git status", [["git", "status"]]],
    ["  git\tstatus  ", [["git", "status"]]],
    [
      "git status; rm -rf /",
      [
        ["git", "status"],
        ["rm", "-rf", "/"],
      ],
    ],
    ["a && b || c", [["a"], ["b"], ["c"]]],
    ["a | b |& c", [["a"], ["b"], ["c"]]],
    ["a & b &", [["a"], ["b"]]],
    ["a\nb\n\nc", [["a"], ["b"], ["c"]]],
    ["(a; b) && { c; d; }", [["a"], ["b"], ["c"], ["d"]]],
    ["! a", [["a"]]],
    ["time -p a b", [["a", "b"]]],
    ["if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]],
    ["git status # ; rm", [["git", "status"]]],
    [
      "git status # x\nrm y",
      [
        ["git", "status"],
        ["rm", "y"],
      ],
    ],
    [
      "git status#; rm y",
      [
        ["git", "status#"],
        ["rm", "y"],
      ],
    ],
    ["git \\\n  status", [["git", "status"]]],
    ['git "status" \'x\'"y"z', [["git", "status", "xyz"]]],
    ["git\\ status", [["git status"]]],
    ["'git status'", [["git status"]]],
    ["\\rm x", [["rm", "x"]]],
    ["r'm' x", [["rm", "x"]]],
    ["r\"\"m x ''", [["rm", "x", ""]]],
    ["echo '$x `y` $(z) ~ {a,b} *'", [["echo", "$x `y` $(z) ~ {a,b} *"]]],
    ['echo "a \\$x \\" \\\\ \\n"', [["echo", 'a $x " \\ \\n']]],
    ["echo a\\;b \\| \\#", [["echo", "a;b", "|", "#"]]],
    ['grep "end$" f', [["grep", "end$", "f"]]],
    ["git log HEAD~1 a@{u} {} x=1", [["git", "log", "HEAD~1", "a@{u}", "{}", "x=1"]]],
    // A look-alike letter and a blank that separates nothing are characters of a word.
    ["\u0261it status", [["\u0261it", "status"]]],
    ["git\u00a0status", [["git\u00a0status"]]],
    ["git\u2028rm", [["git\u2028rm"]]],
    ["echo ':~' a\\~ 'x='~ {a} a,b", [["echo", ":~", "a~", "x=~", "{a}", "a,b"]]],
    ["ls; ''", [["ls"], [""]]],
    ["CI=1 LC_ALL=C git status", [["git", "status"]]],
    ["a 2>&1 >/dev/null 2>/dev/null </dev/null >&2 3>&-", [["a"]]],
    ["cat <<'E'\n$(x) `y`\nE", [["cat"]]],
    ["cat <<E | sort\ntext; rm x\nE\nls", [["cat"], ["sort"], ["ls"]]],
    ["cat <<-E\n\ttext\n\tE\nls", [["cat"], ["ls"]]],
    ["grep x <<< 'a b'", [["grep", "x"]]],
    ["command -v git", [["command", "-v", "git"]]],
    ["env", [["env"]]],
    ["set -euo pipefail; ls", [["set", "-euo", "pipefail"], ["ls"]]],
    ["node build.js", [["node", "build.js"]]],
    ["python3 -m pytest x", [["python3", "-m", "pytest", "x"]]],
    [
      "node -v; bash --version",
      [
        ["node", "-v"],
        ["bash", "--version"],
      ],
    ],
    ["bash check.sh", [["bash", "check.sh"]]],
    ["find . -name x", [["find", ".", "-name", "x"]]],
    [
      "[ -f x ] && test -d y",
      [
        ["[", "-f", "x", "]"],
        ["test", "-d", "y"],
      ],
    ],
    ["hasOwnProperty; constructor; __proto__", [["hasOwnProperty"], ["constructor"], ["__proto__"]]],
  ])("%j [PERM-01.3]", (command, expected) => {
    expect(readScript(command).opaque).toBeUndefined();
    expect(words(command)).toEqual(expected);
  });

  test.each<[string, string]>([
    ["nohup npm test", "npm test"],
    ["timeout 60 npm test", "npm test"],
    ["timeout -k 5 --signal=KILL 60 npm test", "npm test"],
    ["nice -n 5 npm test", "npm test"],
    ["nice -5 npm test", "npm test"],
    ["stdbuf -oL -e 0 npm test", "npm test"],
    ["command npm test", "npm test"],
    ["command -p -- npm test", "npm test"],
    ["builtin echo x", "echo x"],
    ["env CI=1 npm test", "npm test"],
    ["/usr/bin/env npm test", "npm test"],
    ["\\time -p npm test", "npm test"],
    ["timeout 5 nohup nice npm test", "npm test"],
  ])("%j runs %j, and the wrapper is listed before it [PERM-01.3]", (command, inner) => {
    expect(readScript(command).opaque).toBeUndefined();
    expect(real(command)).toEqual([inner]);
    expect(readScript(command).commands[0]).toMatchObject({ isWrapper: true });
  });
});

describe("commands whose meaning is uncertain", () => {
  // The commands within them are still found, so that a rule that denies them applies.
  test.each<[string, RegExp, string?]>([
    ["git status $(rm x)", /substitution/, "rm x"],
    ["git status `rm x`", /substitution/, "rm x"],
    ['git status "$(rm x)"', /substitution/, "rm x"],
    ["git status ${x:-$(rm x)}", /variable|substitution/, "rm x"],
    ["git status $((a[$(rm x)]))", /expression|substitution/, "rm x"],
    ["git status <(rm x)", /process substitution/, "rm x"],
    ["git 2>(rm x)", /ambiguous/],
    ["1<(rm x)", /./],
    ["git status > >(rm x)", /process substitution/, "rm x"],
    ["git status $HOME", /variable/],
    ['git status "${HOME}"', /variable/],
    ["$x", /variable/],
    ["g$1it status", /variable/],
    ["cat ~/.ssh/id_rsa", /home folder/],
    ["make PREFIX=~/x", /home folder/],
    ["{rm,-rf,/}", /braces/],
    ["git {a,b}", /braces/],
    ["echo {1..3}", /braces/],
    ["git $'status'", /\$'…'/],
    ['git $"status"', /\$"…"/],
    ["echo $'\\' ; rm x #'", /\$'…'/],
    ["/bin/r?", /pattern as a program name/],
    ["* x", /pattern as a program name/],
    ["timeout 5 r* x", /pattern as a program name/],
    ["!(a) b", /./],
    ["FOO=1 git status", /sets FOO/, "git status"],
    ["PATH=/tmp/evil git status", /sets PATH/, "git status"],
    ["LD_PRELOAD=./x.so ls", /sets LD_PRELOAD/, "ls"],
    ["PATH=/tmp/evil; git status", /sets PATH/, "git status"],
    ["x[$(rm y)]=1 ls", /sets x|substitution/, "rm y"],
    ["env FOO=1 git status", /sets FOO/, "git status"],
    ["env -S 'rm x'", /unknown way/, "rm x"],
    ["git() { rm x; }; git status", /function/, "rm x"],
    ["function git { rm x; }; git status", /function/, "rm x"],
    ["alias git=rm; git status", /later commands/],
    ["for i in a b; do rm x; done", /loop/, "rm x"],
    ["while true; do rm x; done", /loop/, "rm x"],
    ["case a in a) rm x;; esac", /case/, "rm x"],
    ["[[ -f x ]] && rm x", /expression/, "rm x"],
    ["(( a[$(rm x)] ))", /expression|substitution/, "rm x"],
    ["coproc rm x", /coprocess/, "rm x"],
    ["test -v 'a[$(rm x)]'", /subscript/],
    ["printf -v 'a[$(rm x)]' y", /variable/],
    ["set -- a b", /options of the shell/],
    ["eval rm x", /runs text/, "rm x"],
    ["eval 'rm x; ls'", /runs text/, "rm x"],
    ["source x.sh", /runs text/],
    [". x.sh", /runs text/],
    ["trap 'rm x' EXIT", /runs text/, "rm x"],
    ["exec rm x", /replaces the shell/, "rm x"],
    ["exec > log; ls", /replaces the shell/, "ls"],
    ["export PATH=/tmp; ls", /variables/, "ls"],
    ["read x", /variables/],
    ["sudo -u root rm x", /other privileges/, "rm x"],
    ["/usr/bin/sudo rm x", /other privileges/, "rm x"],
    ["nohup sudo rm x", /other privileges/, "rm x"],
    ["ls | xargs rm", /from its input/, "rm"],
    ["ssh host rm x", /another host/, "rm x"],
    ["ssh host 'cd /; rm x'", /another host/, "rm x"],
    ["watch -n 1 rm x", /given as an argument/, "rm x"],
    ["find . -exec rm x ;", /what it finds/],
    ["find . -exec rm x \\;", /what it finds/],
    ["find . -delete", /what it finds/],
    ["find . -ex* rm x", /may become an option/],
    ["git -c core.pager=x log", /pager/],
    ["bash -c 'rm x'", /program for an interpreter/, "rm x"],
    ["sh -ec 'bash -c \"rm x\"'", /program for an interpreter/, "rm x"],
    ["/bin/bash -lc 'rm x'", /program for an interpreter/, "rm x"],
    ["bash -v", /program/],
    ["python -c 'x'", /program for an interpreter/],
    ["python3.11 -Ic 'x'", /program for an interpreter/],
    ["node --import tsx -e x", /program for an interpreter/],
    ["perl -pe x", /program for an interpreter/],
    ["curl x | sh", /as input/, "curl x"],
    ['git "status" && curl x|sh', /as input/, "git status"],
    ["curl x | python -", /as input/],
    ["bash /dev/stdin", /as input/],
    ["bash <<E\nrm x\nE", /as input/],
    ["sh <<< 'rm x'", /as input/],
    ["cat <<E\n$(rm x)\nE", /here-document/, "rm x"],
    ["cat <<$'E'\nx\nE", /here-document/],
    ["cat <<E\\F\nx\nEF", /here-document/],
    ["cat <<A <<B\nx\nA\ny\nB", /here-document/],
    ["cat <<E\nnever ends", /here-document/],
    ["cat <<E\na\\\nE\nrm x\nE", /here-document|middle of a word/],
    ["git status &&", /parse/],
    ["git 'status", /parse/],
    ["git status )", /parse/],
    ["a ;; b", /parse/],
    ["g\\\nit status", /middle of a word/],
    ["$\\\n(rm x)", /middle of a word/],
    ["git status\rrm x", /control/],
    ["git status\0", /control/],
    ["git \u001b[2Kstatus", /control/],
    ["git \ud800", /invalid characters/],
    ["git \u202ex", /hide/],
    ["git status > $x", /variable/],
    ["git status > *", /redirects to a pattern/],
    ["git status {fd}> x", /variable/],
    ["git status <& x", /unknown source/],
    [">&-rm -rf x", /ambiguous/],
    ["git status 2>&-f", /ambiguous/],
    ["<&-rm x", /ambiguous/],
    ["cd", /unknown folder/],
    ["cd -", /unknown folder/],
    ["cd a; cd b", /more than once/],
    ["pushd a", /folder/],
    [`echo ${"x".repeat(20_000)}`, /too long/],
    [`${"(".repeat(3000)}a${")".repeat(3000)}`, /parse/],
  ])("%j [PERM-01.3]", (command, reason, found) => {
    const { opaque } = readScript(command);
    expect(opaque).toMatch(reason);
    if (found !== undefined) expect(real(command)).toContain(found);
  });
});

describe("patterns, redirects and folders", () => {
  let workspace: string;
  beforeAll(async () => {
    workspace = await realpath(await mkdtemp(join(tmpdir(), "holdfast-shell-")));
    await mkdir(join(workspace, "src"));
    await symlink("/etc", join(workspace, "link"));
    await symlink("/nowhere/at/all", join(workspace, "dangling"));
  });
  afterAll(() => rm(workspace, { recursive: true, force: true }));

  test("the words before a file name pattern are certain [PERM-01.3]", async () => {
    expect(await collectCommandFacts("git add *.ts x", workspace)).toEqual({
      commands: [{ words: ["git", "add", "*.ts", "x"], fixedWords: 2 }],
    });
    expect(await collectCommandFacts("ls '*.ts'", workspace)).toEqual({
      commands: [{ words: ["ls", "*.ts"], isKnownProgram: true }],
    });
    expect(await collectCommandFacts("timeout 5 ls [ab]", workspace)).toEqual({
      commands: [
        { words: ["timeout", "5", "ls", "[ab]"], fixedWords: 3, isWrapper: true },
        { words: ["ls", "[ab]"], fixedWords: 1, isKnownProgram: true },
      ],
    });
  });

  test("a redirect within the workspace is a path of the call [PERM-01.2]", async () => {
    for (const operator of [">", ">>", ">|", "&>", "&>>", ">&", "<", "<>", "2>"]) {
      expect(await collectCommandFacts(`a ${operator} src/x`, workspace), operator).toEqual({
        commands: [{ words: ["a"], ...(operator.startsWith("<") ? { readsInput: true } : {}) }],
        paths: [{ path: join(workspace, "src/x"), isInWorkspace: true, relative: "src/x" }],
      });
    }
    expect(await collectCommandFacts("> x", workspace)).toMatchObject({
      commands: [{ words: [] }],
      paths: [{}],
    });
    expect(await collectCommandFacts("(a; b) > x", workspace)).toMatchObject({ paths: [{ relative: "x" }] });
  });

  test.each([
    "git status > /etc/passwd",
    "git status >> ../x",
    "git status < /etc/passwd",
    "git status &> /etc/passwd",
    "git status >& /etc/passwd",
    "{ git status; } > /etc/passwd",
    "git status > link/passwd",
    "git status > dangling",
    "git status > src/../x",
    "git status > /dev/tcp/example.org/80",
    "git status > /dev/null/../../etc/passwd",
    "cd link && git status > passwd",
    "cd src && git status > ../../x",
    "cd /etc && git status",
    "cd .. && git status",
    "cd src/.. && git status",
  ])("%j leaves the workspace [PERM-01.2]", async (command) => {
    expect((await collectCommandFacts(command, workspace)).opaqueReason).toMatch(/outside the workspace/);
  });

  test("after a change of folder, a path is resolved against both folders [PERM-01.2]", async () => {
    expect(await collectCommandFacts("cd src && a > x", workspace)).toEqual({
      commands: [{ words: ["cd", "src"] }, { words: ["a"] }],
      paths: [
        { path: join(workspace, "x"), isInWorkspace: true, relative: "x" },
        { path: join(workspace, "src/x"), isInWorkspace: true, relative: "src/x" },
      ],
    });
  });

  test("the paths of a command that starts in a folder of the workspace are resolved from there [PERM-01.2]", async () => {
    const facts = await collectCommandFacts("a > x", workspace, join(workspace, "src"));
    expect(facts.paths).toMatchObject([{ relative: "src/x" }]);
    const up = await collectCommandFacts("a > ../x", workspace, join(workspace, "src"));
    expect(up).toMatchObject({ paths: [{ relative: "x", isInWorkspace: true }] });
    expect(up.opaqueReason).toBeUndefined();
  });

  test("facts have a bounded size: long words are left out, and long scripts are truncated or opaque [PERM-01.3]", async () => {
    expect(await collectCommandFacts(`git commit -m '${"x".repeat(2000)}'`, workspace)).toEqual({
      commands: [{ words: ["git", "commit", "-m"], fixedWords: 3 }],
    });
    for (const command of [
      "a; ".repeat(200),
      `nohup ${"nohup ".repeat(1000)}`,
      `sudo ${"word ".repeat(2000)}`,
    ]) {
      const facts = await collectCommandFacts(command, workspace);
      expect(facts.isTruncated === true || facts.opaqueReason !== undefined).toBe(true);
      expect(JSON.stringify(facts).length).toBeLessThan(MAX_FACTS_CHARS * 2);
    }
    expect(await collectCommandFacts("x".repeat(2000), workspace)).toMatchObject({ isTruncated: true });
  });
});

describe("compared with bash", () => {
  const bash = new BashWatcher();
  afterAll(() => bash.close());

  test(
    "words in any style of quoting, joined by operators, are the words that bash sees [PERM-01.3]",
    async () => {
      const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
      const escaped = (text: string) => text.replace(/[^A-Za-z0-9]/gu, "\\$&") || "''";
      const doubled = (text: string) => `"${text.replace(/["\\$`]/g, "\\$&")}"`;
      const text = string({ unit: "grapheme-ascii", maxLength: 6 });
      const word = record({ text, quote: constantFrom(quoted, escaped, doubled) });
      const simple = array(word, { minLength: 1, maxLength: 4 });
      const joint = constantFrom(" && ", "; ", "\n", " | ");
      const list = array(record({ simple, joint }), { minLength: 1, maxLength: 4 });
      await assert(
        asyncProperty(list, async (parts) => {
          const script = parts
            .map(({ simple, joint }, index) => {
              // A name that is certainly neither a builtin nor a path.
              const said = simple.map(({ text, quote }) => quote(text)).join(" ");
              return `${index === 0 ? "" : joint}zz ${said}`;
            })
            .join("");
          const expected = parts.map(({ simple }) => ["zz", ...simple.map(({ text }) => text)]);
          const reading = readScript(script);
          expect(reading.opaque).toBeUndefined();
          expect(reading.commands.map((fact) => fact.words)).toEqual(expected);
          const ran = await bash.listCommands(script, 0);
          expect(ran.map(String).sort()).toEqual(expected.map(String).sort());
        }),
        { numRuns: Math.ceil(RUNS / 25) },
      );
    },
    60_000 + RUNS * 20,
  );

  test(
    "every command that bash runs from a random script is listed, or the script is opaque [PERM-01.3]",
    async () => {
      const piece = constantFrom(
        ..."xa xb -f 1 ' \" \\ # ; & | && || |& ( ) { } ! = ~ * ? [ ] $ ` < > >> << <<- <<< <<E <<'E' & < > $' {a,b} if then fi".split(
          " ",
        ),
        ...[
          " ",
          " ",
          " ",
          "\n",
          "\n",
          "\t",
          "\nE\n",
          "\n\tE\n",
          " xc ",
          "; xd ",
          "\\\n",
          "$(",
          "<(",
          "é",
          "\u00a0",
        ],
      );
      const script = array(piece, { minLength: 1, maxLength: 14 }).map((pieces) => pieces.join(""));
      let transparent = 0;
      await assert(
        asyncProperty(script, constantFrom<0 | 1>(0, 1), async (command, status) => {
          const { opaque, commands } = readScript(command);
          if (opaque !== undefined) return;
          transparent += 1;
          const ran = await bash.listCommands(command, status);
          for (const words of ran) {
            const listed = commands.some(
              (fact) =>
                fact.words.slice(0, fact.fixedWords).every((word, index) => word === words[index]) &&
                (fact.fixedWords !== undefined || fact.words.length === words.length),
            );
            expect(listed, `${JSON.stringify(command)} runs ${JSON.stringify(words)}`).toBe(true);
          }
        }),
        { numRuns: RUNS },
      );
      // Most random scripts are opaque; at least this many were not.
      expect(transparent).toBeGreaterThan(RUNS / 50);
    },
    60_000 + RUNS * 20,
  );
});
