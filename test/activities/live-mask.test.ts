import { describe, expect, test } from "vitest";
import {
  createMaskedOutput,
  createSecretsMask,
  createShapesMask,
  type LiveMask,
} from "../../src/activities/tool/live-mask.ts";
import { redact } from "../../src/platform/text/redact.ts";
import type { DeltaBody } from "../../src/store/stream/stream-hub.ts";
import { CORPUS } from "../core/secret-shapes.ts";

const shown = (mask: LiveMask, pieces: readonly string[]): string =>
  pieces.map((piece) => mask.push(piece)).join("") + mask.flush();
const cut = (text: string, size: number): string[] =>
  text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];

describe("live output is masked, however it is split into chunks", () => {
  const secret = "hunter2-hunter2-key";

  test.each([1, 2, 3, 7, 1000])("a worker's own secret, %i characters at a time [DBG-03.4]", (size) => {
    const text = `one ${secret} two hunter2-hunter three ${secret}${secret}`;
    expect(shown(createSecretsMask([secret]), cut(text, size))).toBe(
      "one *** two hunter2-hunter three ******",
    );
  });

  test("text that cannot be the beginning of a secret is displayed at once", () => {
    const mask = createSecretsMask([secret]);
    expect([mask.push("progress 10 %"), mask.push(" hunt"), mask.push("ing")]).toEqual([
      "progress 10 %",
      " ",
      "hunting",
    ]);
  });

  test.each([1, 3, 16, 50])("every shape of a key, %i characters at a time [DBG-03.4-5]", (size) => {
    for (const [name, text, key] of CORPUS) {
      const said = shown(createShapesMask(), cut(`first line\n${text}\nlast line\n`, size));
      expect(said, name).not.toContain(key);
      expect(said, name).toMatch(/^first line\n[\s\S]*last line\n$|^first line\n[^\n]*\*\*\*\n?$/);
    }
  });

  test.each([1, 5, 400])("text without a key is preserved, %i characters at a time", (size) => {
    const text = "a  b\tc\n\nnpm test -- --run\nlast";
    expect(shown(createShapesMask(), cut(text, size))).toBe(text);
  });

  test("a line in chunks is masked like the whole line", () => {
    const text = "password: hunter22 and more of it\n";
    expect(shown(createShapesMask(), cut(text, 4))).toBe(redact(text));
  });

  test("progress is masked as a whole, and buffered text is displayed at the end [DBG-03.4]", () => {
    const bodies: DeltaBody[] = [];
    const call = { toolCallId: "c", toolName: "t" };
    const live = createMaskedOutput((body) => bodies.push(body), [secret], false);
    live.publish({ type: "progress", ...call, text: `at ${secret}` });
    live.publish({ type: "tool-output", ...call, text: `${secret.slice(0, 9)}` });
    live.end();
    expect(bodies).toEqual([
      { type: "progress", ...call, text: "at ***" },
      { type: "tool-output", ...call, text: secret.slice(0, 9) },
    ]);
  });

  test("a key whose lines are reported one by one is left out, the text after it is not [DBG-03.4]", () => {
    const shown: string[] = [];
    const live = createMaskedOutput((body) => shown.push("text" in body ? body.text : ""), [secret], true);
    const pem = CORPUS.find(([name]) => name === "PEM")?.[1] ?? "";
    const reports = ["reading", ...pem.split("\n"), "two\n\nlines", `at ${secret}`, ""];
    for (const text of reports) live.publish({ type: "progress", toolCallId: "c", toolName: "t", text });
    expect(shown).toEqual(["reading", "***", "***", "***", "***", "two\n\nlines", "at ***", ""]);
  });
});
