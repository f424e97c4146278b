// Change your mind while the agent works.
import { anthropic, connect } from "holdfast";
import { createWorker, defineTool } from "holdfast/worker";
import { z } from "zod";

const readChapter = defineTool({
  name: "read_chapter",
  description: "Reads a chapter of the book",
  inputSchema: z.object({ number: z.number().int() }),
  replay: "pure",
  execute: ({ number }) => `Chapter ${number}: it was a dark and stormy night.`,
});

const worker = await createWorker({ tools: [readChapter] });
const working = worker.run();
const holdfast = await connect();
const session = await holdfast.start({
  agent: { model: anthropic("claude-sonnet-4-5"), tools: ["read_chapter"] },
  prompt: "Read the book, and tell me what happens in it.",
});
let chapters = 0;
for await (const event of session) {
  if (event.type === "tool-result" && ++chapters === 2) {
    await session.steer("Two chapters are enough. Answer in German.");
  }
  if (event.type === "text-delta") process.stdout.write(event.text);
}
worker.shutdown();
await Promise.all([working, holdfast.close()]);
