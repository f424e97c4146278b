// Stop an agent that takes too long. What it has written is not lost.
import { anthropic, connect } from "holdfast";

const holdfast = await connect();
const session = await holdfast.start({
  agent: { model: anthropic("claude-sonnet-4-5") },
  prompt: "Count to a million.",
});
let written = "";
for await (const text of session.textStream) {
  written += text;
  if (written.length > 20) await session.stop("That is enough.");
}
const { outcome } = await session.result();
console.log(`outcome: ${outcome.type}`);
console.log(`written: ${written}`);
await holdfast.close();
