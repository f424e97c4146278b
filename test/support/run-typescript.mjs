// Lets a script import TypeScript of this repository, as the test runner does: first `import "…/run-typescript.mjs"`, then
// `await import("….ts")`. Node 20 does not support that itself.
import { register } from "node:module";

register("./typescript-hooks.mjs", import.meta.url);
