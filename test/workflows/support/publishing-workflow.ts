import { condition, defineQuery, defineSignal, setHandler } from "@temporalio/workflow";
import { createPublisher } from "../../../src/workflows/status-publisher.ts";

export const formattedQuery = defineQuery<number>("formatted");
export const endSignal = defineSignal("end");

const PUBLISHED_STATES = 50;

/** Publishes many states, and tells how many of them were formatted. */
export async function publishStates(): Promise<number> {
  let formatted = 0;
  let hasEnded = false;
  setHandler(formattedQuery, () => formatted);
  setHandler(endSignal, () => {
    hasEnded = true;
  });
  const publish = createPublisher<{ readonly turns: number }>(false, {
    details: ({ turns }) => {
      formatted += 1;
      return `- **Turns**: ${turns}\n- "quoted" \u{1F980}`;
    },
    status: ({ turns }) => ({
      session: "s",
      status: "running",
      agent: undefined,
      model: undefined,
      turns,
      costUsd: 0,
    }),
  });
  for (let turns = 1; turns <= PUBLISHED_STATES; turns += 1) publish({ turns });
  await condition(() => hasEnded);
  return formatted;
}
