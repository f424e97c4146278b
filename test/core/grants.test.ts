import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addGrant,
  buildGrant,
  describeCoverage,
  type Grant,
  isGranted,
  MAX_GRANTS,
  MAX_GRANTS_CHARS,
  readGrants,
} from "../../src/core/permission/grants.ts";

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

describe("grants of a user for the rest of a session", () => {
  test("omit stored values that are not valid grants, without an error", () => {
    for (const forged of FORGED) {
      expect(readGrants([forged]), JSON.stringify(forged)).toEqual([]);
      expect(readGrants(forged)).toEqual([]);
    }
    expect(readGrants([null, { tool: "pay" }, "x"])).toEqual([{ tool: "pay" }]);
  });

  test("cover no command with an empty list of words", () => {
    for (const grant of [
      { tool: "bash", commands: [[]] },
      { tool: "bash", commands: [["rm"], []] },
      { tool: "bash", exactCommands: [[]] },
    ] as Grant[]) {
      expect(isGranted([grant], bash(["curl", "x"]))).toBe(false);
    }
  });

  test("can be read from any JSON without an error, and then cover no unrelated command", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const grants = readGrants([value]);
        expect(isGranted(grants, bash(["never", "heard", "of"]))).toBe(false);
      }),
    );
  });

  test("cover a known program with other arguments, and any other program only with the same words", () => {
    const known = (...words: string[]) => ({
      name: "bash",
      facts: { commands: [{ words, isKnownProgram: true as const }] },
    });
    const ls = [buildGrant(known("ls", "src"))!];
    expect(isGranted(ls, known("ls", "test"))).toBe(true);
    expect(isGranted(ls, bash(["ls", "--odd"]))).toBe(false);
    const push = [buildGrant(bash(["git", "push", "origin"]))!];
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

  test("are not given for a call that may do something else the next time", () => {
    const facts = [
      { opaqueReason: "holds a variable", commands: [{ words: ["ls"] }] },
      { isTruncated: true as const, commands: [{ words: ["ls"] }] },
      { paths: [{ path: "/etc", isInWorkspace: false }], commands: [{ words: ["ls"] }] },
      { commands: [{ words: ["cat", "*"], fixedWords: 1, isKnownProgram: true as const }] },
      {
        commands: [
          { words: ["cat", "/etc/x"], isKnownProgram: true as const, leavesWorkspace: true as const },
        ],
      },
      { commands: [{ words: ["psql"], readsInput: true as const }] },
      { commands: [{ words: [] }] },
    ];
    for (const one of facts) {
      expect(buildGrant({ name: "bash", facts: one }), JSON.stringify(one)).toBeUndefined();
      expect(describeCoverage({ name: "bash", facts: one })).toEqual([]);
    }
  });

  test("are described by what they would cover before they are given", () => {
    const facts = {
      commands: [{ words: ["ls", "src"], isKnownProgram: true as const }, { words: ["npm", "test"] }],
    };
    expect(describeCoverage({ name: "bash", facts })).toEqual([
      "`ls` with any arguments within the workspace",
      "exactly `npm test`",
    ]);
    expect(describeCoverage({ name: "pay" })).toEqual(["every call of pay"]);
  });

  test("are bounded in number and in characters; the newest are retained", () => {
    const long = (index: number): Grant => ({
      tool: "bash",
      exactCommands: [[`p${index}`, "x".repeat(1000)]],
    });
    let few: readonly Grant[] = [];
    let many: readonly Grant[] = [];
    for (let index = 0; index < 100; index++) {
      few = addGrant(few, long(index));
      many = addGrant(many, { tool: `t${index}` });
    }
    expect(JSON.stringify(few).length).toBeLessThan(MAX_GRANTS_CHARS * 1.2);
    expect(few.at(-1)).toEqual(long(99));
    expect(many).toHaveLength(MAX_GRANTS);
    expect(many.at(-1)).toEqual({ tool: "t99" });
  });
});
