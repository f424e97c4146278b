// An answer as data: it matches a zod schema, or the run fails.
import { anthropic, connect } from "holdfast";
import { z } from "zod";

const Recipe = z.object({
  title: z.string(),
  minutes: z.number().int(),
  ingredients: z.array(z.object({ name: z.string(), grams: z.number() })),
});

const holdfast = await connect();
const session = await holdfast.start({
  agent: { model: anthropic("claude-sonnet-4-5") },
  prompt: "A recipe for pancakes for two.",
  output: Recipe,
});
const { output } = await session.result();
if (output === undefined) throw new Error("The agent was stopped before it answered.");

console.log(`${output.title}, ${output.minutes} minutes`);
for (const { name, grams } of output.ingredients) console.log(`- ${grams} g ${name}`);
await holdfast.close();
