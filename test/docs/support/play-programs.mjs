// Plays programs of the documents one after the other, in this process, against a Temporal server of their own and a scripted
// model for each. Standard input has the programs as JSON; standard output gets one line of JSON for each.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { startModelServer, startTestServer } from "holdfast/testing";
import { createWorker } from "holdfast/worker";

const { programs } = JSON.parse(await text(process.stdin));
const write = process.stdout.write.bind(process.stdout);
const home = await mkdtemp(join(tmpdir(), "holdfast-docs-"));
const server = await startTestServer();
process.env.TEMPORAL_ADDRESS = server.address;
process.env.TEMPORAL_NAMESPACE = server.namespace;
process.env.HOLDFAST_HOME = home;
process.env.ANTHROPIC_API_KEY = "scripted";

try {
  const withoutWorker = programs.filter(({ hasWorker }) => !hasWorker);
  if (withoutWorker.length > 0) {
    const worker = await createWorker();
    const working = worker.run();
    for (const program of withoutWorker) await play(program);
    worker.shutdown();
    await working;
  }
  for (const program of programs.filter(({ hasWorker }) => hasWorker)) await play(program);
} finally {
  await server.stop();
  await rm(home, { recursive: true, force: true });
}
process.exit();

async function play({ name, file, script }) {
  const model = await startModelServer(script);
  process.env.ANTHROPIC_BASE_URL = model.anthropicBaseUrl;
  let output = "";
  process.stdout.write = (piece) => {
    output += piece;
    // What a program prints opens the gate of that name.
    for (const line of String(piece).split("\n")) model.release(line);
    return true;
  };
  let error;
  try {
    await import(pathToFileURL(file).href);
  } catch (thrown) {
    error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  } finally {
    process.stdout.write = write;
    await model.stop();
  }
  write(`${JSON.stringify({ name, output, error })}\n`);
}
