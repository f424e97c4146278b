import { createContext, Script } from "node:vm";

const script = new Script("work()");
const sandbox = createContext({ work: undefined });

/**
 * Runs code that may take for ever (a pattern or a schema of somebody else), and interrupts it at the limit. Nothing
 * else runs meanwhile, not even a heartbeat.
 *
 * @param onTimeout - Returns the value after a timeout.
 */
export function runWithTimeout<Value>(limitMs: number, work: () => Value, onTimeout: () => Value): Value {
  sandbox["work"] = work;
  try {
    return script.runInContext(sandbox, { timeout: limitMs }) as Value;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return onTimeout();
    throw error;
  } finally {
    sandbox["work"] = undefined;
  }
}
