import { type Logger as PinoLogger, pino } from "pino";

/** Facts first, then a sentence: `log.warn({ session, fault }, "…")`. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error">;

/** Fields that never hold anything a log may show. */
const HIDDEN = ["apiKey", "headers.authorization", 'headers["x-api-key"]', "*.apiKey"];

/**
 * JSON lines on standard error, so that standard output stays the program's own.
 *
 * @param level - A pino level; `silent` for none.
 */
export function createLogger(level: string): Logger {
  return pino({ level, redact: { paths: HIDDEN, censor: "***" }, base: null }, pino.destination(2));
}
