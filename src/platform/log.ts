import { type Logger as PinoLogger, pino } from "pino";

/** A logger. Calls have the form `log.warn({ session, fault }, "A sentence.")`. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error">;

/** Fields that a log must never contain. */
const REDACTED_FIELDS = ["apiKey", "headers.authorization", 'headers["x-api-key"]', "*.apiKey"];

/** The size up to which unwritten lines are buffered until standard error is writable again. */
const MAX_UNWRITTEN_BYTES = 256 * 1024;

/**
 * Creates a logger that writes JSON lines to standard error; standard output belongs to the program.
 *
 * @param level - A pino level; `silent` for none.
 */
export function createLogger(level: string): Logger {
  const output = pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  // If standard error is not writable, as on a full disk, lines are lost but the process continues.
  output.on("error", () => undefined);
  return pino({ level, redact: { paths: REDACTED_FIELDS, censor: "***" }, base: null }, output);
}
