/** What the next version of a worker has and the one before it has not. */
export default {
  name: "one_more",
  label: "One more",
  description: "Is there in the next version",
  parameters: { type: "object", properties: {} },
  replay: "pure",
  execute: async () => ({ content: [{ type: "text", text: "here" }] }),
};
