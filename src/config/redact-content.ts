/** Controls whether the texts that Temporal displays for new runs contain message text. */
const REDACT_CONTENT_VARIABLE = "HOLDFAST_REDACT_CONTENT";

/**
 * Reads `HOLDFAST_REDACT_CONTENT`.
 *
 * @returns Nothing where texts are displayed, the default. Throws for an invalid value, so that it never displays texts.
 */
export function readRedactContent(env: NodeJS.ProcessEnv): { readonly redactContent?: true } {
  const setting = (env[REDACT_CONTENT_VARIABLE] ?? "").trim();
  if (setting === "" || setting === "off") return {};
  if (setting === "on") return { redactContent: true };
  throw new TypeError(`${REDACT_CONTENT_VARIABLE} has the value "${setting}"; valid values are on and off.`);
}
