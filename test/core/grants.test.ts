import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  coverageOf,
  type Grant,
  grantFor,
  isGranted,
  MAX_GRANTS,
  MAX_GRANTS_CHARS,
  readGrants,
  withGrant,
} from "../../src/core/grants.ts";

const bash = (...commands: readonly (readonly string[])[]) => ({
  name: "bash",
  facts: { commands: commands.map((words) => ({ words })) },
});
const FORGED: readonly unknown[] = [
  null,
  "x",
  7,
  [],
  {},
  { length: 1 },
  { tool: "bash", commands: "abc" },
  { tool: "bash", commands: [] },
  { tool: "bash", commands: [[]] },
  { tool: "bash", commands: [null] },
  { tool: "bash", commands: [[""]] },
  { tool: "bash", commands: [[7]] },
  { tool: "bash", exact: [[]] },
  { tool: "", commands: [["ls"]] },
  { tool: ["bash"] },
  { tool: "bash", other: 1 },
];

describe("what a user has allowed for the rest of a session", () => {
  test("a stored grant that names nothing, or is none, is dropped and never throws", () => {
    for (const forged of FORGED) {
      expect(readGrants([forged]), JSON.stringify(forged)).toEqual([]);
      expect(readGrants(forged)).toEqual([]);
    }
    expect(readGrants([null, { tool: "pay" }, "x"])).toEqual([{ tool: "pay" }]);
  });

  test("an empty list of words covers no command", () => {
    for (const grant of [
      { tool: "bash", commands: [[]] },
      { tool: "bash", commands: [["rm"], []] },
      { tool: "bash", exact: [[]] },
    ] as Grant[]) {
      expect(isGranted([grant], bash(["curl", "x"]))).toBe(false);
    }
  });

  test("reading any JSON gives grants that can be asked, and none of another tool's calls is covered", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const grants = readGrants([value]);
        expect(isGranted(grants, bash(["never", "heard", "of"]))).toBe(false);
      }),
    );
  });

  test("covers a program that only handles files with other arguments, and any other with the same words alone", () => {
    const known = (...words: string[]) => ({
      name: "bash",
      facts: { commands: [{ words, known: true as const }] },
    });
    const ls = [grantFor(known("ls", "src"))!];
    expect(isGranted(ls, known("ls", "test"))).toBe(true);
    expect(isGranted(ls, bash(["ls", "--odd"]))).toBe(false);
    const push = [grantFor(bash(["git", "push", "origin"]))!];
    expect(isGranted(push, bash(["git", "push", "origin"]))).toBe(true);
    for (const words of [
      ["git", "push"],
      ["git", "push", "origin", "-f"],
      ["git"],
      ["git", "push", "other"],
    ]) {
      expect(isGranted(push, bash(words)), words.join(" ")).toBe(false);
    }
    expect(isGranted(push, bash(["git", "push", "origin"], ["rm", "x"]))).toBe(false);
  });

  test("gives no grant for what may be something else the next time", () => {
    const facts = [
      { opaque: "holds a variable", commands: [{ words: ["ls"] }] },
      { cut: true as const, commands: [{ words: ["ls"] }] },
      { paths: [{ path: "/etc", inside: false }], commands: [{ words: ["ls"] }] },
      { commands: [{ words: ["cat", "*"], fixed: 1, known: true as const }] },
      { commands: [{ words: ["cat", "/etc/x"], known: true as const, outside: true as const }] },
      { commands: [{ words: ["psql"], fed: true as const }] },
      { commands: [{ words: [] }] },
    ];
    for (const one of facts) {
      expect(grantFor({ name: "bash", facts: one }), JSON.stringify(one)).toBeUndefined();
      expect(coverageOf({ name: "bash", facts: one })).toEqual([]);
    }
  });

  test("says what it would cover before it is given", () => {
    const facts = {
      commands: [{ words: ["ls", "src"], known: true as const }, { words: ["npm", "test"] }],
    };
    expect(coverageOf({ name: "bash", facts })).toEqual([
      "`ls` with any arguments within the workspace",
      "exactly `npm test`",
    ]);
    expect(coverageOf({ name: "pay" })).toEqual(["every call of pay"]);
  });

  test("keeps a bounded number of grants and of words, the newest", () => {
    const long = (index: number): Grant => ({ tool: "bash", exact: [[`p${index}`, "x".repeat(1000)]] });
    let few: readonly Grant[] = [];
    let many: readonly Grant[] = [];
    for (let index = 0; index < 100; index++) {
      few = withGrant(few, long(index));
      many = withGrant(many, { tool: `t${index}` });
    }
    expect(JSON.stringify(few).length).toBeLessThan(MAX_GRANTS_CHARS * 1.2);
    expect(few.at(-1)).toEqual(long(99));
    expect(many).toHaveLength(MAX_GRANTS);
    expect(many.at(-1)).toEqual({ tool: "t99" });
  });
});
