import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

type KeepReachable = (
  texts: ReadonlyMap<string, string>,
  entries: readonly string[],
) => ReadonlyMap<string, string>;

const SCRIPT = resolve(import.meta.dirname, "../scripts/reachable-declarations.mjs");
const { keepReachable } = (await import(/* @vite-ignore */ pathToFileURL(SCRIPT).href)) as {
  readonly keepReachable: KeepReachable;
};

test("of the declarations, what the entry points reach is left, with its comments and imports", () => {
  const kept = keepReachable(
    new Map([
      ["index.d.ts", 'export { start as begin, type Options } from "./inner/start.js";\n'],
      [
        "inner/start.d.ts",
        `import type { Limits, Unused } from "../limits.ts";
import type { EventEmitter } from "node:events";
/** Starts a run. */
export declare function start(options: Options, one: import("../event.js").Event): EventEmitter;
/** How it starts. */
export interface Options {
    readonly limits: Limits;
}
/** What only sources use. */
export declare function prepare(unused: Unused): void;
`,
      ],
      [
        "limits.d.ts",
        "type Turns = number;\nexport type Limits = Turns;\nexport type Unused = string;\nexport {};\n",
      ],
      ["event.d.ts", "export type Event = string;\nexport type Other = number;\n"],
      ["internal.d.ts", 'import type { Event } from "./event.ts";\nexport type Internal = Event;\n'],
    ]),
    ["index.d.ts"],
  );
  expect(Object.fromEntries(kept)).toEqual({
    "index.d.ts": 'export { start as begin, type Options } from "./inner/start.js";\n',
    "inner/start.d.ts": `import type { Limits } from "../limits.ts";
import type { EventEmitter } from "node:events";
/** Starts a run. */
export declare function start(options: Options, one: import("../event.js").Event): EventEmitter;
/** How it starts. */
export interface Options {
    readonly limits: Limits;
}
`,
    "limits.d.ts": "type Turns = number;\nexport type Limits = Turns;\nexport {};\n",
    "event.d.ts": "export type Event = string;\n",
  });
});
