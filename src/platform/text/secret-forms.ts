/** Masking shorter secrets would hide ordinary words. */
export const MIN_SECRET_LENGTH = 6;

/**
 * Lists the forms in which a secret can appear: in an address, a form, a JSON text, reversed, as base64 (also within a
 * longer encoded text), as hex. The longest forms come first.
 */
export function listSecretForms(secret: string): readonly string[] {
  const words = secret.trim() === secret ? [secret] : [secret, secret.trim()];
  const forms = words.flatMap((word) => [
    word,
    ...encodeForUrl(word),
    ...encodeForJson(word),
    [...word].reverse().join(""),
    ...encodeBytes(word),
  ]);
  return [...new Set(forms)]
    .filter((form) => form.length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length);
}

function encodeForUrl(word: string): readonly string[] {
  const plain = encodeURIComponent(replaceLoneSurrogates(word));
  const strict = plain.replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  const form = plain
    .replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
    .replaceAll("%20", "+");
  return [plain, strict, form].flatMap((text) => [
    setEscapeCase(text, "upper"),
    setEscapeCase(text, "lower"),
  ]);
}

function setEscapeCase(text: string, which: "upper" | "lower"): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) =>
    which === "upper" ? code.toUpperCase() : code.toLowerCase(),
  );
}

/** Encodes a text for JSON, also with an escaped slash or escaped HTML characters, as some languages do. */
function encodeForJson(word: string): readonly string[] {
  const plain = JSON.stringify(word).slice(1, -1);
  const forHtml = plain.replace(/[&<>]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  return [plain, plain.replaceAll("/", "\\/"), forHtml];
}

function encodeBytes(word: string): readonly string[] {
  if (word.length < MIN_SECRET_LENGTH) return [];
  const bytes = encodeUtf8(word);
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex, hex.toUpperCase(), ...listBase64Forms(bytes)];
}

function replaceLoneSurrogates(word: string): string {
  return word.replace(/\p{Surrogate}/gu, "\uFFFD");
}

function encodeUtf8(word: string): number[] {
  const bytes: number[] = [];
  for (const [, code, letter] of encodeURIComponent(replaceLoneSurrogates(word)).matchAll(/%(..)|([^%])/g)) {
    bytes.push(code === undefined ? (letter as string).charCodeAt(0) : Number.parseInt(code, 16));
  }
  return bytes;
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Encodes in both alphabets, for offsets of 0, 1 and 2 bytes. Letters that contain bits of adjacent bytes are left out. */
function listBase64Forms(bytes: readonly number[]): readonly string[] {
  const whole = encodeBase64(bytes);
  const padded = whole.padEnd(Math.ceil(whole.length / 4) * 4, "=");
  const inside = [0, 1, 2].map((before) => {
    const first = Math.ceil((before * 8) / 6);
    const end = Math.floor(((before + bytes.length) * 8) / 6);
    return encodeBase64([...new Array<number>(before).fill(0), ...bytes]).slice(first, end);
  });
  const standard = [padded, whole, ...inside];
  return [...standard, ...standard.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** Encodes to base64 without padding. */
function encodeBase64(bytes: readonly number[]): string {
  const alphabet = `${LETTERS}+/`;
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.slice(at, at + 3);
    const bits = a * 65_536 + b * 256 + c;
    const letters = Math.min(4, bytes.length - at + 1);
    for (let letter = 0; letter < letters; letter++) {
      text += alphabet[Math.floor(bits / 64 ** (3 - letter)) % 64];
    }
  }
  return text;
}
