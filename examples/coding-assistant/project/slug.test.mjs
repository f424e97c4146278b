import assert from "node:assert/strict";
import { test } from "node:test";
import { slug } from "./slug.mjs";

test("small letters", () => assert.equal(slug("Hello"), "hello"));
test("one dash between words", () => assert.equal(slug("Hello, world"), "hello-world"));
test("no dash at the ends", () => assert.equal(slug("(Hello)"), "hello"));
