import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decidePermission } from "../../src/core/permission/permission.ts";
import { ApprovalSettings } from "../../src/schema/definition.ts";
import { PermissionPolicy } from "../../src/schema/permission.ts";

const page = readFileSync(new URL("../../docs/approvals.md", import.meta.url), "utf8");
const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "{}") as {
  permissions: unknown;
  approvals: unknown;
};

test("the example of docs/approvals.md is a policy, and decides as the page states [PERM-01.1-2]", () => {
  const policy = PermissionPolicy.parse(example.permissions);
  expect(ApprovalSettings.parse(example.approvals)).toEqual({ timeoutMs: null, countsAsDuration: false });
  const bash = (...commands: string[][]) =>
    decidePermission(
      policy,
      { tool: "bash", replay: "unsafe" },
      { commands: commands.map((words) => ({ words })) },
      { agent: "agent", interactive: false },
    ).outcome;
  expect(bash(["git", "status", "--short"])).toBe("allow");
  expect(bash(["git", "status"], ["rm", "-rf", "x"])).toBe("ask");
  const edit = (relative: string) =>
    decidePermission(
      policy,
      { tool: "edit_file", replay: "idempotent" },
      { paths: [{ path: `/home/me/project/${relative}`, isInWorkspace: true, relative }] },
      { agent: "agent", interactive: true },
    ).outcome;
  expect([edit("src/a.ts"), edit("secrets/key"), edit("README.md")]).toEqual(["allow", "deny", "allow"]);
});
