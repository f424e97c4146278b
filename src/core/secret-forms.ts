/** Shorter ones would blank ordinary words. */
const MIN_LENGTH = 6;

/** How a secret reads where others repeat it: in an address, a form, a JSON text. The longest come first. */
export function secretForms(secret: string): readonly string[] {
  const forms = [secret, secret.trim()].flatMap((word) => [word, ...inAddress(word), ...inJson(word)]);
  return [...new Set(forms)].filter((form) => form.length >= MIN_LENGTH).sort((a, b) => b.length - a.length);
}

function inAddress(word: string): readonly string[] {
  const plain = encodeURIComponent(word.replace(/\p{Surrogate}/gu, "\uFFFD"));
  const strict = plain.replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const form = plain
    .replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
    .replaceAll("%20", "+");
  return [plain, strict, form].flatMap((text) => [inCase(text, "upper"), inCase(text, "lower")]);
}

function inCase(text: string, which: "upper" | "lower"): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) =>
    which === "upper" ? code.toUpperCase() : code.toLowerCase(),
  );
}

/** Some languages escape the slash too, or what means something in HTML. */
function inJson(word: string): readonly string[] {
  const plain = JSON.stringify(word).slice(1, -1);
  const forHtml = plain.replace(/[&<>]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  return [plain, plain.replaceAll("/", "\\/"), forHtml];
}
