import { array, assert, boolean, constant, constantFrom, option, property, record, string } from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  type CallFacts,
  type CommandFact,
  limitFacts,
  MAX_FACTS,
  MAX_FACTS_CHARS,
  type PathFact,
} from "../../src/core/permission/call-facts.ts";
import { decidePermission } from "../../src/core/permission/permission.ts";
import { matchNameGlob, matchPathGlob } from "../../src/platform/text/glob.ts";
import { PermissionPolicy, type PermissionPolicyInput } from "../../src/schema/permission.ts";
import type { ReplayClass } from "../../src/schema/tool.ts";
import { cpuMs } from "../support/cpu-time.ts";
import { getRunCount } from "../support/test-depth.ts";

const RUNS = getRunCount(2000);
vi.setConfig({ testTimeout: 20_000 + RUNS * 10 });
const STRICTNESS = { allow: 0, ask: 1, deny: 2 };

const inside = (relative: string): PathFact => ({
  path: `/home/me/project/${relative}`,
  isInWorkspace: true,
  relative,
});
const outside = (path: string): PathFact => ({ path, isInWorkspace: false });
const commands = (...texts: string[]): CallFacts => ({
  commands: texts.map((text) => ({ words: text.split(" ") })),
});
const touching = (...paths: (string | PathFact)[]): CallFacts => ({
  paths: paths.map((path) => (typeof path === "string" ? inside(path) : path)),
});

type Asked = { tool?: string; agent?: string; interactive?: boolean; replay?: ReplayClass };

function judge(policy: PermissionPolicyInput, facts: CallFacts, asked: Asked = {}) {
  const { tool = "bash", agent = "agent", interactive = true, replay = "unsafe" } = asked;
  return decidePermission(PermissionPolicy.parse(policy), { tool, replay }, facts, { agent, interactive });
}

/** "allow 0", "ask otherwise". */
function verdict(policy: PermissionPolicyInput, facts: CallFacts, asked?: Asked) {
  const { outcome, rule } = judge(policy, facts, asked);
  return `${outcome} ${rule}`;
}

describe("the schema", () => {
  test("the empty policy has no rules and defaults to ask-unsafe [PERM-01.5]", () => {
    expect(PermissionPolicy.parse({})).toEqual({ rules: [], otherwise: "ask-unsafe" });
  });

  test.each([
    [{ rules: [{ outcome: "allow", tools: "bash" }] }, /tools/],
    [{ rules: [{ tool: "bash" }] }, /outcome/],
    [{ rules: [{ outcome: "forbid" }] }, /outcome/],
    [{ rules: [{ outcome: "deny", tool: [] }] }, /tool/],
    [{ rules: [{ outcome: "deny", replay: "safe" }] }, /replay/],
    [{ rules: [{ outcome: "deny", command: "rm *" }] }, /plain words/],
    [{ rules: [{ outcome: "allow", command: "git status; ls" }] }, /plain words/],
    [{ rules: [{ outcome: "allow", command: "  " }] }, /at least one word/],
    [{ rules: [{ outcome: "deny", path: "../x" }] }, /absolute glob/],
    [{ rules: [{ outcome: "deny", path: "~/x" }] }, /home folder/],
    [{ otherwise: "maybe" }, /otherwise/],
  ])("%j is rejected with the field and the reason [PERM-01.2]", (policy, message) => {
    expect(() => PermissionPolicy.parse(policy)).toThrow(message);
  });
});

describe("the decision where no rule matches", () => {
  test.each([
    ["ask-unsafe", true, "ask", "allow"],
    ["ask-unsafe", false, "allow", "allow"],
    ["always-ask-unsafe", false, "ask", "allow"],
    ["deny-unsafe", true, "deny", "allow"],
    ["deny", false, "deny", "deny"],
  ] as const)(
    "%s, interactive: %s: %s for an unsafe tool, %s for others",
    (otherwise, interactive, unsafe, other) => {
      const outcomes = (["unsafe", "idempotent", "pure"] as const).map(
        (replay) => judge({ otherwise }, {}, { interactive, replay }).outcome,
      );
      expect(outcomes).toEqual([unsafe, other, other]);
    },
  );

  test("tells the model and the user about an unsafe tool", () => {
    const reason = (otherwise: PermissionPolicyInput["otherwise"]) =>
      judge({ ...(otherwise === undefined ? {} : { otherwise }) }, {}, { interactive: false }).reason;
    expect(reason("always-ask-unsafe")).toBe(
      "no rule matches, and `bash` is not safe to repeat, so it needs approval",
    );
    expect(reason("deny-unsafe")).toBe(
      "no rule matches, `bash` is not safe to repeat, and nobody is there to approve it",
    );
    expect(reason("deny")).toBe("no rule matches");
  });
});

describe("rules", () => {
  test("by replay class match tools of that class, also calls that are uncertain", () => {
    const policy = {
      rules: [
        { replay: "unsafe" as const, outcome: "deny" as const },
        { replay: ["pure" as const, "idempotent" as const], outcome: "allow" as const },
      ],
    };
    expect(verdict(policy, {}, { replay: "unsafe" })).toBe("deny 0");
    expect(verdict(policy, { opaqueReason: "is not parsed" }, { replay: "unsafe" })).toBe("deny 0");
    expect(verdict(policy, {}, { tool: "read_file", replay: "pure" })).toBe("allow 1");
    expect(verdict(policy, {}, { tool: "write_file", replay: "idempotent" })).toBe("allow 1");
    expect(verdict(policy, { opaqueReason: "is not parsed" }, { replay: "pure" })).toBe("ask otherwise");
  });

  test("the first that matches decides, and the result names it [PERM-01.1]", () => {
    const rules = [
      { tool: "read_file", outcome: "allow" },
      { tool: "read_*", outcome: "deny", reason: "reads too much" },
      { outcome: "ask" },
    ] as const;
    expect(verdict({ rules: [...rules] }, {}, { tool: "read_file" })).toBe("allow 0");
    expect(judge({ rules: [...rules] }, {}, { tool: "read_mail" })).toEqual({
      outcome: "deny",
      rule: 1,
      reason: "reads too much",
    });
    expect(verdict({ rules: [...rules] }, {}, { tool: "bash" })).toBe("ask 2");
  });

  test("need all conditions to match, but only one member of a list; names can be globs [PERM-01.2]", () => {
    const rules = [{ tool: ["a", "b_*"], agent: ["x?", "main"], outcome: "deny" as const }];
    const otherwise = "allow";
    expect(verdict({ rules, otherwise }, {}, { tool: "b_1", agent: "x1" })).toBe("deny 0");
    expect(verdict({ rules, otherwise }, {}, { tool: "a", agent: "main" })).toBe("deny 0");
    expect(verdict({ rules, otherwise }, {}, { tool: "a", agent: "x12" })).toBe("allow otherwise");
    expect(verdict({ rules, otherwise }, {}, { tool: "b", agent: "main" })).toBe("allow otherwise");
    expect(verdict({ rules: [{ agent: "*", outcome: "deny" }] }, {}, { agent: "a/b" })).toBe("deny 0");
  });

  test.each<[string, string, string]>([
    ["git status", "git status --short", "allow 0"],
    ["git  status", "git status", "allow 0"],
    ["git status", "git stash", "deny otherwise"],
    ["git status", "git", "deny otherwise"],
    ["git status", "git statusx", "deny otherwise"],
    ["git status", "git -c x status", "deny otherwise"],
    ["git status", "./git status", "deny otherwise"],
    ["git status", "/usr/bin/git status", "deny otherwise"],
    ["git status", "\u0261it status", "deny otherwise"],
  ])("allow %j for the command %j: %s [PERM-01.2]", (command, said, expected) => {
    expect(verdict({ rules: [{ command, outcome: "allow" }], otherwise: "deny" }, commands(said))).toBe(
      expected,
    );
  });

  test("judge each command of a list separately; the strictest outcome counts [PERM-01.3]", () => {
    const policy: PermissionPolicyInput = {
      rules: [
        { command: "git status", outcome: "allow" },
        { command: ["grep", "wc"], outcome: "allow" },
        { command: "rm", outcome: "ask" },
        { command: "git push", outcome: "deny" },
      ],
      otherwise: "ask",
    };
    expect(verdict(policy, commands("git status", "grep x", "wc -l"))).toBe("allow 0");
    expect(verdict(policy, commands("git status", "ls"))).toBe("ask otherwise");
    expect(verdict(policy, commands("git status", "rm x"))).toBe("ask 2");
    expect(verdict(policy, commands("rm x", "git push"))).toBe("deny 3");
    expect(verdict({ ...policy, otherwise: "deny" }, commands("git status", "ls"))).toBe("deny otherwise");
  });

  test("that deny also match a program by the last segment of its path [PERM-01.2]", () => {
    const rules = [{ command: "rm", outcome: "deny" as const }];
    expect(verdict({ rules }, commands("/bin/rm x"))).toBe("deny 0");
    expect(verdict({ rules }, commands("x/rmdir x"))).toBe("ask otherwise");
  });

  test("treat what a shell pattern can expand to as grounds to deny a call, never to allow it [PERM-01.3]", () => {
    const call = (words: string[], fixed: number): CallFacts => ({
      commands: [{ words, fixedWords: fixed }],
    });
    const deny = { rules: [{ command: "git push", outcome: "deny" as const }], otherwise: "allow" as const };
    const allow = { rules: [{ command: "git push", outcome: "allow" as const }], otherwise: "ask" as const };
    for (const word of ["pus?", "*", "p*", "[p]ush", "push"]) {
      expect(verdict(deny, call(["git", word], 1)), word).toBe("deny 0");
      expect(verdict(allow, call(["git", word], 1)), word).toBe("ask otherwise");
    }
    expect(verdict(deny, call(["git", "*.ts"], 1))).toBe("allow otherwise");
    expect(verdict(deny, call(["git", "add", "*"], 2))).toBe("allow otherwise");
    expect(verdict(deny, call(["git"], 1))).toBe("deny 0");
    expect(verdict(allow, call(["git", "push", "*"], 2))).toBe("allow 0");
    const long = {
      rules: [{ command: "git push x y", outcome: "deny" as const }],
      otherwise: "allow" as const,
    };
    expect(verdict(long, call(["git", "push", "?", "z"], 2))).toBe("deny 0");
  });

  test("judge a wrapper by rules that name it, and otherwise by the command that it runs [PERM-01.3]", () => {
    const facts: CallFacts = {
      commands: [{ words: ["timeout", "5", "npm", "test"], isWrapper: true }, { words: ["npm", "test"] }],
    };
    const allow = { command: "npm test", outcome: "allow" as const };
    expect(verdict({ rules: [allow], otherwise: "deny" }, facts)).toBe("allow 0");
    expect(verdict({ rules: [allow, { command: "timeout", outcome: "deny" }] }, facts)).toBe("deny 1");
    expect(verdict({ rules: [{ command: "timeout", outcome: "allow" }], otherwise: "ask" }, facts)).toBe(
      "ask otherwise",
    );
  });

  test("match relative path globs in the workspace, and absolute ones against the real path [PERM-01.2]", () => {
    const deny = (path: string | string[], facts: CallFacts) =>
      verdict({ rules: [{ path, outcome: "deny" }], otherwise: "allow" }, facts);
    expect(deny("src/**", touching("src/a/b.ts"))).toBe("deny 0");
    expect(deny("**", touching(outside("/etc/passwd")))).toBe("allow otherwise");
    expect(deny("/etc/**", touching(outside("/etc/passwd")))).toBe("deny 0");
    expect(deny("/home/me/project/src/*", touching("src/a"))).toBe("deny 0");
    expect(deny(["x", "**/.env"], touching("a", "b/.env"))).toBe("deny 0");
    expect(deny("**/.env", touching("a", "b"))).toBe("allow otherwise");
  });

  test("that allow a path must match all paths, and need at least one [PERM-01.2]", () => {
    const allow = (facts: CallFacts) =>
      verdict({ rules: [{ path: "src/**", outcome: "allow" }], otherwise: "ask" }, facts, { tool: "edit" });
    expect(allow(touching("src/a", "src/b"))).toBe("allow 0");
    expect(allow(touching("src/a", "b"))).toBe("ask otherwise");
    expect(allow({})).toBe("ask otherwise");
    expect(allow({ paths: [] })).toBe("ask otherwise");
  });

  test("can deny a command by its redirects, but not allow it [PERM-01.3]", () => {
    const facts = { ...commands("echo x"), ...touching("src/a") };
    expect(verdict({ rules: [{ path: "src/**", outcome: "deny" }] }, facts)).toBe("deny 0");
    expect(verdict({ rules: [{ path: "src/**", outcome: "allow" }] }, facts)).toBe("ask otherwise");
    expect(verdict({ rules: [{ command: "echo", path: "src/**", outcome: "allow" }] }, facts)).toBe(
      "ask otherwise",
    );
    expect(verdict({ rules: [{ command: "echo", outcome: "allow" }] }, facts)).toBe("allow 0");
  });
});

describe("uncertain facts", () => {
  const opaque: CallFacts = { ...commands("git status", "rm x"), opaqueReason: "holds a substitution" };
  const cut: CallFacts = { ...commands("git status"), isTruncated: true };

  test("match no allow rule, not even one without conditions [PERM-01.3]", () => {
    for (const facts of [opaque, cut, { opaqueReason: "does not parse" }]) {
      const rules = [{ outcome: "allow" as const }];
      expect(verdict({ rules, otherwise: "ask" }, facts)).toBe("ask otherwise");
      expect(verdict({ rules, otherwise: "deny" }, facts)).toBe("deny otherwise");
    }
  });

  test("need approval where otherwise would allow, if the policy has rules [PERM-01.5]", () => {
    const rules = [{ command: "git push", outcome: "deny" as const }];
    for (const facts of [opaque, cut]) {
      expect(verdict({ rules, otherwise: "allow" }, facts)).toBe("ask otherwise");
      expect(verdict({ rules }, facts, { interactive: false })).toBe("ask otherwise");
      expect(verdict({}, facts, { interactive: false })).toBe("allow otherwise");
      expect(verdict({ otherwise: "allow" }, facts)).toBe("allow otherwise");
    }
    expect(judge({ rules, otherwise: "allow" }, opaque).reason).toBe(
      "the command holds a substitution, so a rule may forbid it",
    );
  });

  test("are denied by a rule that matches a command in them [PERM-01.3]", () => {
    expect(verdict({ rules: [{ command: "rm", outcome: "deny" }] }, opaque)).toBe("deny 0");
    expect(verdict({ rules: [{ command: "rm", outcome: "ask" }], otherwise: "deny" }, opaque)).toBe(
      "deny otherwise",
    );
  });
});

describe("otherwise", () => {
  test.each([
    [{ interactive: true, replay: "unsafe" }, "ask otherwise"],
    [{ interactive: true, replay: "pure" }, "allow otherwise"],
    [{ interactive: false, replay: "unsafe" }, "allow otherwise"],
  ] as const)("ask-unsafe for %j: %s [PERM-01.5]", (asked, expected) => {
    expect(verdict({}, {}, asked)).toBe(expected);
  });

  test.each(["allow", "ask", "deny"] as const)("%s applies when no rule matches [PERM-01.5]", (otherwise) => {
    expect(verdict({ otherwise }, commands("a"))).toBe(`${otherwise} otherwise`);
  });
});

describe("reasons", () => {
  test("name the rule and the command, or why none matched [PERM-01.4]", () => {
    expect(judge({ rules: [{ command: "rm", outcome: "deny" }] }, commands("ls", "rm x")).reason).toBe(
      "rules[0] denies `rm x`",
    );
    expect(judge({ rules: [{ tool: "bash", outcome: "ask" }] }, {}).reason).toBe("rules[0] asks for it");
    expect(judge({}, {}).reason).toBe(
      "no rule matches, and `bash` is not safe to repeat, so it needs approval",
    );
    expect(judge({ otherwise: "ask" }, { opaqueReason: "does not parse" }).reason).toBe(
      "no rule matches (the command does not parse)",
    );
  });
});

describe("properties", () => {
  const word = constantFrom("git", "status", "rm", "x", "*", "p?");
  const command = record(
    {
      words: array(word, { maxLength: 3 }),
      fixedWords: constantFrom(0, 1, 2),
      isWrapper: constant(true as const),
    },
    { requiredKeys: ["words"] },
  );
  const path = constantFrom(inside("src/a"), inside("b"), outside("/etc/passwd"));
  const facts = record(
    {
      commands: array(command, { maxLength: 3 }),
      paths: array(path, { maxLength: 3 }),
      opaqueReason: constant("does not parse"),
      isTruncated: constant(true as const),
    },
    { requiredKeys: [] },
  );
  const rule = record(
    {
      tool: constantFrom("bash", "edit", "*"),
      agent: constantFrom("agent", "other"),
      path: constantFrom("src/**", "/etc/*", "**"),
      command: constantFrom("git", "git status", "rm", "x"),
      outcome: constantFrom("allow" as const, "ask" as const, "deny" as const),
    },
    { requiredKeys: ["outcome"] },
  );
  const otherwise = constantFrom<PermissionPolicy["otherwise"][]>("allow", "ask", "deny", "ask-unsafe");
  const policy = record({ rules: array(rule, { maxLength: 4 }), otherwise });
  const asked = record({ interactive: boolean(), replay: constantFrom("pure" as const, "unsafe" as const) });

  test("a policy with rules never allows an opaque or truncated call [PERM-01.3]", () => {
    void assert(
      property(policy, facts, asked, (policy, facts, asked) => {
        const { outcome, rule } = judge(policy, facts, asked);
        if (facts.opaqueReason === undefined && facts.isTruncated === undefined) return;
        if (policy.rules.length > 0) expect(outcome).not.toBe("allow");
        if (rule !== "otherwise") expect(outcome).not.toBe("allow");
      }),
      { numRuns: RUNS },
    );
  });

  test("adding a deny rule in front, or removing the allow rules, never permits more [PERM-01.1]", () => {
    void assert(
      property(policy, rule, facts, asked, (policy, added, facts, asked) => {
        const before = STRICTNESS[judge(policy, facts, asked).outcome];
        const denied = { ...policy, rules: [{ ...added, outcome: "deny" as const }, ...policy.rules] };
        expect(STRICTNESS[judge(denied, facts, asked).outcome]).toBeGreaterThanOrEqual(before);
        const rules = policy.rules.filter(({ outcome }) => outcome !== "allow");
        if (policy.otherwise !== "ask") return;
        expect(STRICTNESS[judge({ ...policy, rules }, facts, asked).outcome]).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: RUNS },
    );
  });

  test("one more command or path never permits more, and rules after a catch-all have no effect [PERM-01.1, PERM-01.3]", () => {
    void assert(
      property(policy, rule, facts, command, path, asked, (policy, last, facts, command, path, asked) => {
        const before = judge(policy, facts, asked);
        if (facts.commands?.length) {
          const more = judge(policy, { ...facts, commands: [...facts.commands, command] }, asked);
          // A lone wrapper in these facts is judged by `otherwise`; one with a command is not.
          if (facts.commands.some(({ isWrapper }) => isWrapper === undefined)) {
            expect(STRICTNESS[more.outcome]).toBeGreaterThanOrEqual(STRICTNESS[before.outcome]);
          }
        } else if (facts.paths?.length) {
          const more = judge(policy, { ...facts, paths: [...facts.paths, path] }, asked);
          expect(STRICTNESS[more.outcome]).toBeGreaterThanOrEqual(STRICTNESS[before.outcome]);
        }
        const closed = { ...policy, rules: [...policy.rules, { outcome: "deny" as const }] };
        const longer = { ...closed, rules: [...closed.rules, last] };
        expect(judge(longer, facts, asked)).toEqual(judge(closed, facts, asked));
      }),
      { numRuns: RUNS },
    );
  });

  test("an ask rule that is not certain to match a command does not override a later denial [PERM-01.1]", () => {
    const rules = [{ command: "git status", outcome: "ask" as const }];
    const policy: PermissionPolicy = { rules, otherwise: "deny" };
    const asked = { interactive: true, replay: "unsafe" as const };
    const outcome = (command: CommandFact) =>
      judge(policy, limitFacts({ commands: [command] }), asked).outcome;
    expect(outcome({ words: ["git", "y".repeat(200)] })).toBe("deny");
    expect(outcome({ words: ["git", "y*"], fixedWords: 1 })).toBe("deny");
    expect(outcome({ words: ["git", "s*"], fixedWords: 1 })).toBe("deny");
    expect(outcome({ words: ["git", "status", "*.ts"], fixedWords: 2 })).toBe("ask");
    expect(outcome({ words: ["git", "status"] })).toBe("ask");
  });

  test("bounded facts are small, and never permit more than complete ones [PERM-01.3]", () => {
    const long = array(constantFrom("git", "status", "rm", "y".repeat(200)), { maxLength: 25 });
    const many = array(record({ words: long }), { maxLength: 40 });
    void assert(
      property(policy, many, option(path), asked, (policy, commands: CommandFact[], path, asked) => {
        const whole: CallFacts = { commands, ...(path === null ? {} : { paths: [path] }) };
        const bounded = limitFacts(whole);
        expect(JSON.stringify(bounded).length).toBeLessThan(MAX_FACTS_CHARS * 2);
        expect(bounded.commands?.length).toBeLessThanOrEqual(MAX_FACTS);
        expect(limitFacts(bounded)).toEqual(bounded);
        if (policy.rules.length === 0) return;
        const before = STRICTNESS[judge(policy, whole, asked).outcome];
        if (bounded.isTruncated === undefined) {
          expect(STRICTNESS[judge(policy, bounded, asked).outcome]).toBeGreaterThanOrEqual(before);
        } else {
          expect(judge(policy, bounded, asked).outcome).not.toBe("allow");
        }
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });
});

describe("globs", () => {
  test.each<[string, string[], string[]]>([
    ["a.ts", ["a.ts"], ["a_ts", "b/a.ts", "a.tsx"]],
    ["./a", ["a"], ["b/a"]],
    ["*", ["a", ".env", "."], ["a/b"]],
    ["*.ts", ["a.ts", ".ts"], ["a/b.ts", "a.tsx"]],
    ["a*c", ["ac", "abc"], ["a/c", "ab"]],
    ["a?c", ["abc", "a\u{1F980}c"], ["ac", "a/c", "abbc"]],
    ["**", ["a", "a/b/c", "."], []],
    ["**/a", ["a", "x/a", "x/y/a"], ["xa", "x/ya", "a/x"]],
    ["src/**", ["src", "src/a", "src/a/b", "src/"], ["srcx", "xsrc/a"]],
    ["src/", ["src", "src/a/b"], ["srcx"]],
    ["src/**/a", ["src/a", "src/x/a", "src/x/y/a"], ["srca", "src/xa", "a"]],
    ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["a.ts", "src/a.js"]],
    ["**/node_modules/**", ["node_modules", "a/node_modules/b/c"], ["a/node_modulesx"]],
    ["a**b", ["ab", "a/b", "axx/yb"], ["a/c"]],
    ["/**", ["/", "/etc/x"], ["a"]],
    ["/etc/*", ["/etc/passwd"], ["/etc/a/b", "etc/passwd"]],
    ["[a]{b}+(c)", ["[a]{b}+(c)"], ["ab+c", "a"]],
    ["", [""], ["a"]],
  ])("path glob %j [PERM-01.2]", (glob, yes, no) => {
    for (const path of yes) expect(matchPathGlob(glob, path), path).toBe(true);
    for (const path of no) expect(matchPathGlob(glob, path), path).toBe(false);
  });

  test("match names across slashes [PERM-01.2]", () => {
    expect(matchNameGlob("github__*", "github__create_issue")).toBe(true);
    expect(matchNameGlob("*", "a/b")).toBe(true);
    expect(matchNameGlob("a?b", "a/b")).toBe(true);
    expect(matchNameGlob("a", "ab")).toBe(false);
    expect(matchNameGlob("a.c", "abc")).toBe(false);
  });

  test("match the same texts as an equivalent regular expression [PERM-01.2]", () => {
    const letters = string({ unit: constantFrom("a", "b", "/", "."), maxLength: 8 });
    const glob = array(constantFrom("a", "b", "/", "*", "**", "**/", "/**", "?"), { maxLength: 6 });
    void assert(
      property(glob, letters, (parts, text) => {
        const pattern = parts.join("");
        expect(matchPathGlob(pattern, text), `${pattern} of ${text}`).toBe(asExpression(pattern).test(text));
      }),
      { numRuns: RUNS * 5 },
    );
  });

  test("match long patterns and texts without exponential backtracking [PERM-01.2]", () => {
    const spentMs = cpuMs(() => {
      expect(matchPathGlob(`${"**/*a".repeat(40)}b`, "a/".repeat(2000))).toBe(false);
      expect(matchNameGlob(`${"*a".repeat(100)}b`, "a".repeat(2000))).toBe(false);
    });
    // A backtracking matcher would never finish.
    expect(spentMs).toBeLessThan(5_000);
  });
});

function asExpression(glob: string): RegExp {
  const whole = glob.endsWith("/") ? `${glob}**` : glob;
  const below = whole.endsWith("/**") ? whole.slice(0, -3) : undefined;
  const one = (text: string) =>
    text.replace(/(^|(?<=\/))\*\*\/|\*\*|\*|\?|[.]/g, (token) =>
      token === "**/"
        ? "(?:[^/]*/)*"
        : token === "**"
          ? ".*"
          : token === "*"
            ? "[^/]*"
            : token === "?"
              ? "[^/]"
              : "\\.",
    );
  return new RegExp(`^(?:${one(whole)}${below === undefined ? "" : `|${one(below)}`})$`, "s");
}
