import { type Logger as PinoLogger, pino } from "pino";

/** Facts first, then a sentence: `log.warn({ session, fault }, "…")`. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error">;

/** Fields that never hold anything a log may show. */
const REDACTED_FIELDS = ["apiKey", "headers.authorization", 'headers["x-api-key"]', "*.apiKey"];

/** Lines that could not be written are kept up to this, and written when that is possible again. */
const MAX_UNWRITTEN_BYTES = 256 * 1024;

/**
 * JSON lines on standard error, so that standard output stays the program's own.
 *
 * @param level - A pino level; `silent` for none.
 */
export function createLogger(level: string): Logger {
  const output = pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  // Where standard error cannot be written, as on a full disk, words are lost; the process is not.
  output.on("error", () => undefined);
  return pino({ level, redact: { paths: REDACTED_FIELDS, censor: "***" }, base: null }, output);
}
