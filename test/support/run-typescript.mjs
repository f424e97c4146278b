// Lets a script import TypeScript of this repository, as the test runner does: `import "…/run-typescript.mjs"` first, then
// `await import("….ts")`. Node 20 does not do that by itself.
import { register } from "node:module";

register("./typescript-hooks.mjs", import.meta.url);
