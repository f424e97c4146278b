export { plainText, wellFormed } from "../tools/outside/plain-text.ts";
