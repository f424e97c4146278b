/** The calls of Temporal's service that a takeover needs; `NativeConnection.workflowService` provides them. */
export type WorkflowService = {
  respondActivityTaskFailedById(request: {
    namespace: string;
    workflowId: string;
    runId: string;
    activityId: string;
    identity: string;
    failure: object;
  }): Promise<unknown>;
  /** Resets the newest run, unless the request names one. */
  resetStickyTaskQueue(request: {
    namespace: string;
    execution: Pick<Execution, "workflowId"> & Partial<Execution>;
  }): Promise<unknown>;
  getWorkflowExecutionHistoryReverse(request: {
    namespace: string;
    execution: Execution;
    maximumPageSize: number;
  }): Promise<{ history?: { events?: readonly HistoryEvent[] | null } | null }>;
  pollWorkflowTaskQueue(request: {
    namespace: string;
    taskQueue: { name: string; kind: number };
    identity: string;
  }): Promise<PolledTask>;
  respondWorkflowTaskFailed(request: {
    namespace: string;
    taskToken: Uint8Array;
    cause: number;
    identity: string;
  }): Promise<unknown>;
};

/** A workflow task, or a query in its place. It has no token when the poll found neither. */
export type PolledTask = { readonly taskToken?: Uint8Array; readonly query?: unknown };

type Execution = { readonly workflowId: string; readonly runId: string };

type HistoryEvent = {
  readonly workflowTaskScheduledEventAttributes?: {
    readonly taskQueue?: { readonly name?: string | null; readonly kind?: number | null } | null;
  } | null;
};

/** The worker that takes over, and its connections. */
export type Takeover = {
  readonly service: WorkflowService;
  /** Makes a call with a deadline in milliseconds. */
  readonly within: <Answer>(ms: number, call: () => Promise<Answer>) => Promise<Answer>;
  readonly identity: string;
};
