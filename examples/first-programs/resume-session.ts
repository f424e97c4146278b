// A conversation that goes on tomorrow: run it again, and the agent remembers what was said.
import { anthropic, connect } from "holdfast";

const text = process.argv[2] ?? "What did we talk about?";

const holdfast = await connect();
const session = holdfast.session("my-diary");
const { delivery } = await session.send(text, {
  agent: { name: "diary", model: anthropic("claude-sonnet-4-5") },
});
const { text: answer } = await session.result();
console.log(`${delivery}: ${answer}`);
await holdfast.close();
