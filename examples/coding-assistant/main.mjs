// An assistant with two sub-agents repairs a small project. Run it: node examples/coding-assistant/main.mjs [--real]
import { execFileSync } from "node:child_process";
import { check, runExample } from "../run-example.mjs";

await runExample(import.meta.url, async ({ holdfast, workspace, agents, model }) => {
  const { assistant } = agents("agents.toml");
  const session = await holdfast.start({
    agent: assistant,
    prompt: "A test fails. Find the cause, and fix it.",
  });
  for await (const { event } of session.events()) {
    if (event.type === "ToolExecutionStart") console.log(`  ${event.toolName} …`);
  }
  const { outcome, text } = await session.result();
  console.log(`\n${text}\n`);

  check("the assistant answered", outcome.type === "answered");
  check("the project's tests pass", runProjectTests(workspace));
  const children = (await holdfast.sessions.list({ children: true })).sessions.filter(({ session: id }) =>
    id.startsWith(`${session.id}.sub-`),
  );
  check("sub-agents have their own sessions, which stay readable", children.length >= 2);
  if (model !== undefined) {
    check("three tasks were delegated", children.length === 3);
    check("no answer was paid for twice", model.answersRepaid() === 0);
  }
});

function runProjectTests(folder) {
  try {
    execFileSync(process.execPath, ["--test"], { cwd: folder, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
