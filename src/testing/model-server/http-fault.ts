import type { HttpFault } from "./fault.ts";
import type { ModelServerRequest } from "./request.ts";
import type { Wire, WireError } from "./wire.ts";

export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const BAD_GATEWAY_PAGE = `<html>\r
<head><title>502 Bad Gateway</title></head>\r
<body>\r
<center><h1>502 Bad Gateway</h1></center>\r
<hr><center>nginx</center>\r
</body>\r
</html>\r
`;

/** Builds the response for a fault, with the vendor's own text. */
export function buildFaultResponse(
  fault: HttpFault,
  wire: Wire,
  question: ModelServerRequest,
  answerId: string,
): HttpResponse {
  switch (fault.fault) {
    case "html":
      return {
        status: fault.status ?? 502,
        headers: { "content-type": "text/html; charset=utf-8" },
        body: BAD_GATEWAY_PAGE,
      };
    case "http":
      return {
        status: fault.status,
        headers: { "content-type": "application/json", ...fault.headers },
        body: fault.body ?? "",
      };
    case "rate-limited":
      return buildErrorResponse(
        wire,
        answerId,
        withMessage(wire.buildError("rate-limited", question), fault.message),
        {
          ...buildRetryHeaders(fault.retryAfterMs, fault.retryAfterSeconds),
          ...fault.headers,
        },
      );
    case "server-error": {
      const error = wire.buildError("server-error", question);
      return buildErrorResponse(
        wire,
        answerId,
        { ...withMessage(error, fault.message), status: fault.status ?? error.status },
        fault.headers,
      );
    }
    case "overloaded":
    case "overflow":
    case "auth":
      return buildErrorResponse(
        wire,
        answerId,
        withMessage(wire.buildError(fault.fault, question), fault.message),
        fault.headers,
      );
  }
}

export function buildErrorResponse(
  wire: Wire,
  answerId: string,
  error: WireError,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return {
    status: error.status,
    headers: {
      "content-type": "application/json",
      ...wire.buildHeaders(answerId),
      ...wire.buildErrorHeaders?.(error),
      ...headers,
    },
    body: wire.formatErrorBody(error, answerId),
  };
}

function withMessage(error: WireError, message: string | undefined): WireError {
  return message === undefined ? error : { ...error, message };
}

function buildRetryHeaders(ms: number | undefined, seconds: number | undefined): Record<string, string> {
  if (ms === undefined) return seconds === undefined ? {} : { "retry-after": String(seconds) };
  return { "retry-after-ms": String(ms), "retry-after": String(seconds ?? Math.ceil(ms / 1000)) };
}
