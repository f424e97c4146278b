// A payload converter of an application: it marks what it has converted.
const { DefaultPayloadConverter } = require("@temporalio/common");

class MarkingConverter extends DefaultPayloadConverter {
  toPayload(value, ...rest) {
    const payload = super.toPayload(value, ...rest);
    return {
      ...payload,
      metadata: { ...payload.metadata, "converted-by": new TextEncoder().encode("the application") },
    };
  }
}

exports.payloadConverter = new MarkingConverter();
