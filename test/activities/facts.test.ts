import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { collectFacts } from "../../src/activities/model/call-facts.ts";
import { parseCall } from "../../src/activities/model/read-call.ts";
import { decidePermission } from "../../src/core/permission/permission.ts";
import { PermissionPolicy } from "../../src/schema/permission.ts";
import { createBashTool } from "../../src/tools/builtin/bash-tool.ts";
import { defineTool } from "../../src/tools/tool.ts";

const KEY = "sk-ant-0123456789abcdefghij";
const ASK = PermissionPolicy.parse({ otherwise: "ask" });

let workspace: string;
beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), "holdfast-facts-"));
});
afterAll(() => rm(workspace, { recursive: true }));

test("a key in a command is left out of the facts, which history stores; rules still see the text before it [PERM-01.2]", async () => {
  const facts = await collectFacts(
    createBashTool(),
    { command: `curl --key ${KEY} host; rm x` },
    ASK,
    workspace,
  );
  expect(JSON.stringify(facts)).not.toContain(KEY);
  expect(facts?.commands?.[0]).toMatchObject({ words: ["curl", "--key", "***", "host"], fixedWords: 2 });
  const outcomeOf = (command: string) => {
    const policy = PermissionPolicy.parse({
      rules: [{ tool: "bash", command: [command, "rm"], outcome: "allow" }],
      otherwise: "deny",
    });
    const call = { tool: "bash", replay: "unsafe" as const };
    return decidePermission(policy, call, facts ?? {}, { agent: "a", interactive: false }).outcome;
  };
  expect([outcomeOf("curl --key"), outcomeOf("curl --key other")]).toEqual(["allow", "deny"]);
});

test("a tool that fails to list what it touches or to summarise its call does not lose the answer", async () => {
  const broken = defineTool({
    name: "broken",
    description: "Throws whenever it is asked about itself",
    inputSchema: z.object({}),
    touches: () => {
      throw new Error("no");
    },
    summarise: () => {
      throw new Error("no");
    },
    execute: () => "ok",
  });
  const facts = await collectFacts(broken, {}, ASK, workspace);
  expect(facts?.paths).toEqual([{ path: "/", isInWorkspace: false }]);
  const call = { type: "toolCall" as const, id: "c1", name: "broken", arguments: {} };
  expect(parseCall(call, [broken]).digest).toEqual({ id: "c1", name: "broken", summary: "" });
});
