/** The media type of PDF documents. */
export const PDF_TYPE = "application/pdf";

/** Media types of texts that do not begin with `text/`. */
const TEXT_TYPE =
  /^application\/(?:(?:[\w.-]+\+)?(?:json|xml)|jsonl|yaml|toml|sql|graphql|javascript|typescript|x-sh)$/;

export function isTextMediaType(mimeType: string): boolean {
  const [type = ""] = mimeType.toLowerCase().split(";", 1);
  return type.startsWith("text/") || TEXT_TYPE.test(type.trim());
}
