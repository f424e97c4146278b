import { afterAll, beforeAll, expect, test } from "vitest";
import { createGitTools } from "../../../src/apps/git/index.ts";
import type { Holdfast } from "../../../src/client/index.ts";
import { connectClient } from "../../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../../workflows/support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: createGitTools().main });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const call = (...calls: readonly Record<string, string>[]) => ({
  toolCalls: calls.map((one) => ({ name: "workspace", arguments: one })),
});

/** The answers of the workspace on the session's branch, without the ids of notes and tasks. */
async function readAnswers(session: string, branch = "main"): Promise<readonly string[]> {
  const messages = await holdfast.session(session).messages.list({ branch });
  return messages.flatMap(({ message }) =>
    message.role === "toolResult"
      ? [
          message.content
            .map((part) => ("text" in part ? part.text.replace(/[0-9a-f]{6}: /g, "") : ""))
            .join(""),
        ]
      : [],
  );
}

test("notes and tasks live in the transcript: calls of one answer lose none, and a fork has those of its branch [IRIS-10]", async () => {
  const session = stage.session({
    replies: [
      call({ action: "add_note", text: "one" }, { action: "add_task", text: "two" }),
      { text: "Noted." },
      call({ action: "add_note", text: "three" }),
      { text: "Noted." },
    ],
    agent: { tools: ["workspace"], toolStrategy: { type: "parallel" } },
  });
  await session.run("First");
  await session.run("Second");
  expect((await readAnswers(session.id)).at(-1)).toBe("[ ] two\n- one\n- three");
  const own = holdfast.session(session.id);
  const { branch } = await own.branches.fork({ afterTurn: 1, loop: `${session.id}.anthropic.test-model.1` });
  await own.prompt("Something else", { branch });
  await own.result();
  // The fork makes the call that the branch makes which it left: a note of that branch would be there twice.
  expect(await readAnswers(session.id, branch)).toEqual(["- one", "[ ] two", "[ ] two\n- one\n- three"]);
});
