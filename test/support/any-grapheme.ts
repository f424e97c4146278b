import fc from "fast-check";
import { anyCodePoint } from "./any-code-point.ts";

const HANGUL_SYLLABLES = { from: 0xac00, to: 0xd7a3 };
const COMBINING_MARKS = { from: 0x0300, to: 0x036f };

const asciiCharacter = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code));

const markedLetter = fc
  .tuple(
    fc.constantFrom(..."aeiouyncsZAO"),
    fc.array(fc.integer({ min: COMBINING_MARKS.from, max: COMBINING_MARKS.to }), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([letter, marks]) => letter + String.fromCodePoint(...marks));

const decomposedSyllable = fc
  .integer({ min: HANGUL_SYLLABLES.from, max: HANGUL_SYLLABLES.to })
  .map((code) => String.fromCodePoint(code).normalize("NFD"));

/** A family, a flag, a keycap, a skin tone, a variation selector, and a syllable of Devanagari. */
const sequence = fc.constantFrom("👨‍👩‍👧", "🇩🇪", "1️⃣", "👍🏽", "❤️", "क्षि");

/**
 * What a reader takes for one character, of one or several code points, as the unit of a random string. fast-check's
 * "grapheme" takes a second and 90 MB of each process for a table of all characters.
 */
export const anyGrapheme = fc.oneof(
  { arbitrary: asciiCharacter, weight: 3 },
  { arbitrary: anyCodePoint, weight: 3 },
  { arbitrary: markedLetter, weight: 1 },
  { arbitrary: decomposedSyllable, weight: 1 },
  { arbitrary: sequence, weight: 1 },
);
