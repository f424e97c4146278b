export { agent } from "./loop.ts";
export { supervisor } from "./supervisor.ts";
