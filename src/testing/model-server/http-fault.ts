import type { HttpFault } from "./fault.ts";
import type { Question } from "./question.ts";
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

/** The response that a fault is, in the words of the vendor. */
export function httpFault(fault: HttpFault, wire: Wire, question: Question, answerId: string): HttpResponse {
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
      return vendorError(wire, answerId, spoken(wire.error("rate-limited", question), fault.message), {
        ...retryAfter(fault.retryAfterMs, fault.retryAfterSeconds),
        ...fault.headers,
      });
    case "server-error": {
      const error = wire.error("server-error", question);
      return vendorError(
        wire,
        answerId,
        { ...spoken(error, fault.message), status: fault.status ?? error.status },
        fault.headers,
      );
    }
    case "overloaded":
    case "overflow":
    case "auth":
      return vendorError(
        wire,
        answerId,
        spoken(wire.error(fault.fault, question), fault.message),
        fault.headers,
      );
  }
}

export function vendorError(
  wire: Wire,
  answerId: string,
  error: WireError,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return {
    status: error.status,
    headers: {
      "content-type": "application/json",
      ...wire.headers(answerId),
      ...wire.errorHeaders?.(error),
      ...headers,
    },
    body: wire.errorBody(error, answerId),
  };
}

function spoken(error: WireError, message: string | undefined): WireError {
  return message === undefined ? error : { ...error, message };
}

function retryAfter(ms: number | undefined, seconds: number | undefined): Record<string, string> {
  if (ms === undefined) return seconds === undefined ? {} : { "retry-after": String(seconds) };
  return { "retry-after-ms": String(ms), "retry-after": String(seconds ?? Math.ceil(ms / 1000)) };
}
