import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LineChecksums } from "../../../dist/store/transcript/export/line-checksums.js";
import { isNormalTaskFailure } from "../../support/normal-task-failures.mjs";
import { createFinding } from "../findings.mjs";
import { createBashReply, DONE, openAgents, waitForEnd } from "../parts/agents.mjs";
import { runHoldfast } from "../parts/holdfast-process.mjs";
import { waitForNextApproval } from "../parts/next-approval.mjs";

/** Grants that a stranger writes into a file, with its sums made anew. */
const FORGED = {
  "empty-prefix": [{ tool: "bash", commands: [[]] }],
  "no-commands": [{ tool: "bash" }],
  touch: [{ tool: "bash", commands: [["touch"]] }],
  nulls: [null],
  text: "x",
  lengthy: { length: 1 },
  "commands-text": [{ tool: "bash", commands: "abc" }],
};

export default {
  name: "forged-export",
  plays:
    "Exports with forged grants are imported, and their sessions are prompted: the model calls bash, where the policy asks.",
  promise:
    "A file is refused, or its grants are dropped: bash waits for a person. Whatever a file says, no workflow task fails, and `stop` ends the run.",
  isQuick: true,
  limitMs: 240_000,
  play: async (stage) => {
    const agents = await openAgents(stage);
    const agent = { permissions: { otherwise: "ask" } };
    await waitForEnd(await agents.start("forged", { agent, replies: [DONE] }), 60_000);
    const file = join(stage.folder, "honest.jsonl");
    const exported = await runHoldfast(stage, [...agents.common, "export", "forged", "-o", file]);
    if (exported.code !== 0) throw new Error(`the export failed: ${exported.stderr}`);
    const lines = readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    // The definition in the file names the first session to the vendor: all have one script.
    agents.script("forged", [DONE, createBashReply("touch evil"), DONE]);
    return { tried: await Promise.all(Object.entries(FORGED).map(([name, grants]) => play(name, grants))) };

    async function play(name, grants) {
      const forged = join(stage.folder, `${name}.jsonl`);
      writeFileSync(forged, forge(lines, grants));
      const id = `forged-${name}`;
      const imported = await agents.client.sessions
        .import(forged, { as: id })
        .catch((error) => ({ error: error.message }));
      if (imported.error !== undefined) return { name, refused: imported.error };
      const session = await sendPrompt(agents.client, id);
      if (session.error !== undefined) return { name, refused: session.error };
      const questions = await waitForNextApproval(session);
      const failedTasks = await listFailures(stage, id);
      const stopped = await session.stop("enough").then(
        () => true,
        (error) => error.message,
      );
      const end = await waitForEnd(session, 20_000);
      return { name, asked: questions?.length, failedTasks, stopped, end };
    }
  },
  judge: ({ tried }) =>
    tried.flatMap(({ name, refused, failedTasks, end, asked }) => {
      if (refused !== undefined) return [];
      return [
        ...(asked === 0 ? [createFinding("unsafeTwice", "bash ran, and nobody has allowed it", name)] : []),
        ...failedTasks.map((what) => createFinding("broken", `a workflow task failed: ${what}`, name)),
        ...(end.status === "open" ? [createFinding("stuck", "`stop` does not end the run", name)] : []),
      ];
    }),
};

/** The same file with these grants, and sums that are right. */
function forge(lines, grants) {
  const sums = new LineChecksums();
  const bodies = lines.slice(0, -1).map(({ sum: _, ...line }) => line);
  const written = bodies.map((line) =>
    sums.addChecksum(
      JSON.stringify(line.type === "session" || line.type === "loop" ? { ...line, grants } : line),
    ),
  );
  const end = { type: "end", lines: written.length, sha256: sums.digest };
  return `${[...written, sums.addChecksum(JSON.stringify(end))].join("\n")}\n`;
}

/** Prompts it; where its agent must be accepted first, a trusting person does that. */
async function sendPrompt(client, id) {
  const session = client.session(id);
  try {
    await session.prompt("Go on.");
    return session;
  } catch (error) {
    try {
      await client.sessions.acceptDefinition(id);
      await session.prompt("Go on.");
      return session;
    } catch {
      return { error: error.message };
    }
  }
}

async function listFailures(stage, id) {
  const { client } = await stage.campaign();
  const { events = [] } = await client.workflow.getHandle(id).fetchHistory();
  return events.flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed == null || isNormalTaskFailure(failed.cause)
      ? []
      : [failed.failure?.message ?? `cause ${failed.cause}`],
  );
}
