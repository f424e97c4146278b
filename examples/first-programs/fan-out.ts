// One question about each member of a list, four at a time.
import { anthropic, connect } from "holdfast";

const cities = ["Ulm", "Porto", "Oslo", "Pune", "Lima"];

const holdfast = await connect();
const job = await holdfast.jobs.start({
  mode: {
    type: "fan-out",
    agents: [{ name: "geographer", model: anthropic("claude-sonnet-4-5") }],
    tasks: cities.map((city) => `In which country is ${city}? Answer with its name alone.`),
    concurrency: 4,
  },
  task: "Countries of cities",
});
const { parts, costUsd } = await job.result();
for (const [index, { session }] of parts.entries()) {
  const { text } = await holdfast.session(session).result();
  console.log(`${cities[index]}: ${text}`);
}
console.log(`${costUsd} dollars`);
await holdfast.close();
