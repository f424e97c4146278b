import {
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from "@temporalio/client";

type Interceptor = NonNullable<ConnectionOptions["interceptors"]>[number];
type Call = ReturnType<Interceptor>;

/** gRPC's `CANCELLED`, which nobody retries. */
const CANCELLED = 1;

/** What grpc-js throws for a call on a closed channel, in a plain `Error`. */
const CHANNEL_CLOSED = /Channel has been shut down/;

/**
 * The interceptors of a connection: retries of Temporal's client, and an end for those whose time comes after the connection
 * was closed. The SDK starts them from a timer, so that the error of the closed channel would end the process.
 */
export const RETRY_UNTIL_CLOSED: Interceptor[] = [
  makeGrpcRetryInterceptor(defaultGrpcRetryOptions()),
  endCallsOfClosed,
];

function endCallsOfClosed(...[options, nextCall]: Parameters<Interceptor>): Call {
  try {
    // grpc-js passes its calls on as they are.
    return nextCall(options) as Call;
  } catch (error) {
    if (!(error instanceof Error && CHANNEL_CLOSED.test(error.message))) throw error;
    return createEndedCall();
  }
}

/** Creates a call that ends when it starts. */
function createEndedCall(): Call {
  const call: Pick<
    Call,
    "start" | "sendMessage" | "halfClose" | "startRead" | "cancelWithStatus" | "getPeer"
  > = {
    start: (metadata, listener) => {
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({ code: CANCELLED, details: "The connection was closed.", metadata });
    },
    sendMessage: () => undefined,
    halfClose: () => undefined,
    startRead: () => undefined,
    cancelWithStatus: () => undefined,
    getPeer: () => "",
  };
  return call as Call;
}
