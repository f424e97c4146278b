// What did it cost? Tokens of each turn, and of the whole run.
import { anthropic, connect } from "holdfast";

const holdfast = await connect();
const session = await holdfast.start({
  agent: { model: anthropic("claude-sonnet-4-5"), tools: ["list_files"], workspace: process.cwd() },
  prompt: "How many files are here?",
});
for await (const event of session) {
  if (event.type === "finish-step")
    console.log(`turn ${event.turn}: ${event.usage.input} in, ${event.usage.output} out`);
}
const { usage, costUsd, turns, durationMs } = await session.result();
console.log(`${turns} turns, ${durationMs} ms`);
console.log(`${usage.input} tokens in (${usage.cacheRead} from the cache), ${usage.output} out`);
console.log(costUsd === null ? "price unknown" : `${costUsd.toFixed(4)} dollars`);
await holdfast.close();
