import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyDelta,
  EMPTY_TURN,
  endStream,
  type PartialTurn,
  type TurnDelta,
  type TurnPart,
} from "../../src/conversation/streamed-turn.ts";

type Fed = { readonly turn: PartialTurn; readonly whole: readonly (readonly TurnPart[])[] };

function feed(deltas: readonly TurnDelta[], from: PartialTurn = EMPTY_TURN): Fed {
  const whole: (readonly TurnPart[])[] = [];
  let turn = from;
  for (const delta of deltas) {
    const step = applyDelta(turn, delta);
    turn = step.turn;
    whole.push(step.completed);
  }
  return { turn, whole };
}

const text = (index: number, delta: string): TurnDelta => ({ type: "text", index, delta });
const call = (index: number, delta: string, id = `c${index}`, name = "bash"): TurnDelta => ({
  type: "toolCall",
  index,
  id,
  name,
  delta,
});

describe("a streamed turn [RIG-08]", () => {
  test("returns each part as soon as it is complete, and not again at the end", () => {
    const { turn, whole } = feed([
      { type: "thinking", index: 0, delta: "let me " },
      { type: "thinking", index: 0, delta: "see" },
      text(1, "I run it."),
      call(2, ""),
      call(2, '{"command": "l', "", ""),
      call(2, 's"}', "", ""),
    ]);
    const called = { type: "toolCall", index: 2, id: "c2", name: "bash", text: '{"command": "ls"}' };
    expect(whole).toEqual([
      [],
      [],
      [{ type: "thinking", index: 0, text: "let me see" }],
      [{ type: "text", index: 1, text: "I run it." }],
      [],
      [called],
    ]);
    expect(endStream(turn, false)).toEqual({ parts: turn.parts, incomplete: undefined, completed: [] });
  });

  test("completes a call without arguments at the end, unless the stream is cut off", () => {
    const { turn, whole } = feed([call(0, "")]);
    expect(whole).toEqual([[]]);
    expect(endStream(turn, false)).toMatchObject({
      incomplete: undefined,
      completed: [{ id: "c0", text: "" }],
    });
    expect(endStream(turn, true)).toMatchObject({ incomplete: { id: "c0" }, completed: [] });
  });

  test("reports only the call in which the stream is cut off as incomplete", () => {
    const { turn } = feed([call(0, '{"a": 1}'), call(1, '{"command": "rm -rf /ho')]);
    const { incomplete, parts, completed } = endStream(turn, true);
    expect(incomplete).toMatchObject({ id: "c1", text: '{"command": "rm -rf /ho' });
    expect(parts).toHaveLength(2);
    expect(completed).toEqual([]);
  });

  test("reports no incomplete call if the stream is cut off after a complete call or in a text", () => {
    expect(endStream(feed([call(0, '{"a": 1}')]).turn, true).incomplete).toBeUndefined();
    const cut = endStream(feed([call(0, '{"a": 1}'), text(1, "and th")]).turn, true);
    expect(cut.incomplete).toBeUndefined();
    expect(cut.completed).toEqual([]);
  });

  test("does not complete a call at a brace within a string", () => {
    expect(feed([call(0, '{"command": "echo }')]).whole).toEqual([[]]);
  });

  test("returns a completed part that continues again, with its full text", () => {
    const { whole } = feed([text(0, "one"), text(1, "two"), text(0, " more"), text(1, "")]);
    expect(whole.flat().map(({ text }) => text)).toEqual(["one", "two", "one more"]);
  });
});

const part = fc.oneof(
  fc.record({
    type: fc.constantFrom("text" as const, "thinking" as const),
    text: fc.string({ minLength: 1 }),
  }),
  fc.record({
    type: fc.constant("toolCall" as const),
    id: fc.uuid(),
    name: fc.constantFrom("bash", "read"),
    text: fc
      .dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true })
      .map((value) => JSON.stringify(value)),
  }),
);

type Said = {
  readonly type: TurnPart["type"];
  readonly text: string;
  readonly id?: string;
  readonly name?: string;
};

/** Splits the parts into deltas of the given lengths. */
function split(parts: readonly Said[], cuts: readonly number[]): TurnDelta[] {
  let cut = 0;
  return parts.flatMap(({ type, text, id = "", name = "" }, index) => {
    const deltas: TurnDelta[] = [];
    for (let at = 0; at < text.length; ) {
      const length = 1 + ((cuts[cut++ % cuts.length] ?? 0) % text.length);
      const delta = text.slice(at, at + length);
      const label = at === 0 ? { id, name } : { id: "", name: "" };
      deltas.push(type === "toolCall" ? { type, index, ...label, delta } : { type, index, delta });
      at += length;
    }
    return deltas;
  });
}

const cuts = fc.array(fc.nat(30), { minLength: 1, maxLength: 40 });
const indexed = (parts: readonly Said[]) => parts.map((said, index) => ({ ...said, index }));

describe("any answer, split into any deltas [RIG-08]", () => {
  test("S1, S2: has its original parts, each completed once and in order", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), cuts, (parts, where) => {
        const { turn, whole } = feed(split(parts, where));
        const end = endStream(turn, false);
        expect(end.parts).toEqual(indexed(parts));
        expect([...whole.flat(), ...end.completed]).toEqual(indexed(parts));
        expect(end.incomplete).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  test("S3: has only complete parts but the last wherever it is cut off, and no partial call counts as complete", () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), cuts, fc.nat(), (parts, where, at) => {
        const deltas = split(parts, where);
        const kept = deltas.slice(0, 1 + (at % deltas.length));
        const { turn, whole } = feed(kept);
        const end = endStream(turn, true);
        const last = (end.parts.length - 1) as number;
        const given = [...whole.flat(), ...end.completed];
        expect(given.slice(0, last)).toEqual(indexed(parts).slice(0, last));
        for (const one of given) if (one.type === "toolCall") expect(one.text).toBe(parts[one.index]?.text);
        const isHalfCall = parts[last]?.type === "toolCall" && end.parts[last]?.text !== parts[last]?.text;
        expect(end.incomplete?.index).toBe(isHalfCall ? last : undefined);
      }),
      { numRuns: 2000 },
    );
  });

  test("has a state between two deltas that survives JSON serialization", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), cuts, fc.nat(), (parts, where, at) => {
        const deltas = split(parts, where);
        const middle = deltas.length === 0 ? 0 : at % deltas.length;
        const half = feed(deltas.slice(0, middle)).turn;
        const again = JSON.parse(JSON.stringify(half)) as PartialTurn;
        expect(feed(deltas.slice(middle), again).turn.parts).toEqual(feed(deltas).turn.parts);
      }),
      { numRuns: 500 },
    );
  });
});
