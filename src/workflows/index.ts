export { agent } from "./loop.ts";
