import type { ImageContent } from "../../../src/schema/message.ts";
import { answer, call, conversation, PNG, READ, result, user } from "./conversation.ts";

const JPEG: ImageContent = {
  type: "image",
  mimeType: "image/jpeg",
  data: "/9j/4AAQSkZJRgABAQAAAQABAAD/2Q==",
};
const GIF: ImageContent = {
  type: "image",
  mimeType: "image/gif",
  data: "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==",
};
const WEBP: ImageContent = {
  type: "image",
  mimeType: "image/webp",
  data: "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
};
/** About 150 KB, like a screenshot. */
const LARGE: ImageContent = { ...PNG, data: PNG.data.replace(/=+$/, "").padEnd(200_000, "AbCd") };

const tools = [READ];

export const IMAGES = [
  conversation("a picture in a prompt", [user("What is this?", PNG)]),
  conversation("a picture and nothing else", [user(PNG)]),
  conversation("pictures between texts", [user("Left:", PNG, "right:", JPEG, "which is red?")]),
  conversation("pictures of every kind", [user("Compare", PNG, JPEG, GIF, WEBP)]),
  conversation("a large picture", [user("Read the screen", LARGE)]),
  conversation(
    "a picture as a result",
    [user("Look"), answer("anthropic", [call("c1")]), result("c1", [PNG]), user("And?")],
    { tools },
  ),
  conversation(
    "a picture with words as a result, and the model is next",
    [user("Look"), answer("openai", [call("c1")]), result("c1", ["Here:", PNG, "1 x 1"])],
    { tools },
  ),
  conversation(
    "pictures in parallel results",
    [
      user("Look at both"),
      answer("google", [call("c1"), call("c2", { path: "b.png" }), call("c3", { path: "c.txt" })]),
      result("c1", [PNG]),
      result("c2", ["the second", JPEG, GIF]),
      result("c3", ["only text"]),
      user("Which is better?"),
    ],
    { tools },
  ),
  conversation(
    "a picture in a result that is an error",
    [user("Look"), answer("bedrock", [call("c1")]), result("c1", ["broken", PNG], { isError: true })],
    { tools },
  ),
];
