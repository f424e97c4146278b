import { createContext, Script } from "node:vm";

const call = new Script("work()");
const place = createContext({ work: undefined });

/**
 * Does what may compute for ever (a pattern or a schema that others have written), and gives it up at the limit: nothing
 * else runs meanwhile, not even a heartbeat.
 *
 * @param otherwise - In place of what did not come in time.
 */
export function withinTime<Value>(limitMs: number, work: () => Value, otherwise: () => Value): Value {
  place["work"] = work;
  try {
    return call.runInContext(place, { timeout: limitMs }) as Value;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return otherwise();
    throw error;
  } finally {
    place["work"] = undefined;
  }
}
