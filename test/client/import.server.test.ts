import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { formatCanonicalJson } from "../../src/platform/text/canonical-json.ts";
import { LineChecksums } from "../../src/store/transcript/export/line-checksums.ts";
import { hashText } from "../../src/store/transcript/sql/hash-text.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
let folder: string;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
  folder = await mkdtemp(join(tmpdir(), "holdfast-import-"));
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
  await rm(folder, { recursive: true, force: true });
});

type Body = Record<string, unknown> & { type?: string };

/** The export of a session after somebody changed it: another agent and a grant of everything, with correct checksums. */
async function forgedFile(id: string, grants: unknown): Promise<string> {
  const bodies: Body[] = [];
  for await (const line of holdfast.session(id).export()) {
    const { sum: _, ...body } = JSON.parse(line);
    if (body.type !== "end") bodies.push(body);
  }
  const hashes = new Map<unknown, string>();
  for (const body of bodies.filter(({ type }) => type === "definition")) {
    const definition = { ...(body["definition"] as object), description: "not the one that was here" };
    const hash = hashText(formatCanonicalJson(definition));
    hashes.set(body["hash"], hash);
    Object.assign(body, { definition, hash });
  }
  for (const body of bodies) {
    const hash = hashes.get(body["definitionHash"]);
    if (hash !== undefined) body["definitionHash"] = hash;
    if (body.type === "session") body["grants"] = grants;
  }
  const sums = new LineChecksums();
  const text = bodies.map((body) => `${sums.addChecksum(JSON.stringify(body))}\n`).join("");
  const end = JSON.stringify({ type: "end", lines: bodies.length, sha256: sums.digest });
  const file = join(folder, `${id}.jsonl`);
  await writeFile(file, `${text}${sums.addChecksum(end)}\n`);
  return file;
}

test("an imported agent is rejected by client, command line and worker until it is accepted, once", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
  await session.run("Go");
  const file = await forgedFile(session.id, [{ tool: "bash", exactCommands: [["rm", "-rf", "/"]] }]);
  const copy = `${session.id}-copy`;
  const imported = await runCommandLine(stage, "import", file, "--as", copy);
  expect(imported).toMatchObject({ code: 0 });
  expect(imported.err).toContain("(not accepted on this machine)");
  expect(imported.err).toContain("workspace: ");
  expect(imported.err).toContain("brings 1 grant: dropped; --with-grants imports them");
  expect(imported.err).toContain(`Accept its agent first: holdfast accept ${copy}`);

  const refused = {
    code: "definition-unaccepted",
    facts: { session: copy, command: `holdfast accept ${copy}` },
  };
  await expect(holdfast.session(copy).prompt("On")).rejects.toMatchObject(refused);
  await expect(holdfast.session(copy).branches.start({ prompt: "On" })).rejects.toMatchObject(refused);
  await expect(
    holdfast.session(copy).branches.start({ prompt: "On", changes: { temperature: 1 } }),
  ).rejects.toMatchObject(refused);
  const byCommand = await runCommandLine(stage, "run", "On", "--session", copy, "--json");
  expect(byCommand.code).not.toBe(0);

  const { definitionHash } = (await stage.transcript.readSession(copy)) ?? { definitionHash: "" };
  const byHand = await stage.client.workflow.start("agent", {
    workflowId: `${session.id}-by-hand`,
    taskQueue: stage.taskQueue,
    args: [{ prompt: "On", definitionHash }],
  });
  await expect(byHand.result()).rejects.toMatchObject({
    cause: { message: expect.stringContaining("has not been accepted here") },
  });
  expect(session.listRequests()).toHaveLength(1);

  const accepted = await runCommandLine(stage, "accept", copy);
  expect(accepted).toMatchObject({ code: 0 });
  expect(accepted.err).toContain("Accepted");
  await holdfast.session(copy).prompt("On");
  expect(await holdfast.session(copy).result()).toMatchObject({ text: "Two." });
  expect(await holdfast.sessions.acceptDefinition(copy)).toMatchObject({ wasAccepted: true });
});

test("a file with a forged grant is rejected, and starts no run", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  await session.run("Go");
  for (const grants of [[{ tool: "bash", commands: [[]] }], [null], "x", { length: 1 }]) {
    const file = await forgedFile(session.id, grants);
    await expect(holdfast.sessions.import(file, { newIds: true })).rejects.toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("grants"),
    });
  }
});

test("an import that accepts its agent can be continued at once", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  await session.run("Go");
  const file = await forgedFile(session.id, undefined);
  const imported = await holdfast.sessions.import(file, { newIds: true, accept: true });
  expect(imported.agents).toMatchObject([{ accepted: true }]);
  await holdfast.session(imported.session).prompt("On");
  expect(await holdfast.session(imported.session).result()).toMatchObject({ text: "Two." });
});
