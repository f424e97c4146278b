import { createRequire } from "node:module";

// Packages that a worker needs after its first poll, or never: each is loaded at its first use, because the start of a worker
// is most of the time in which it takes over from a dead one.

const require = createRequire(import.meta.url);

export const loadUndici = () => require("undici") as typeof import("undici");
export const loadAjv2020 = () => require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
export const loadAjv = () => require("ajv") as typeof import("ajv");
