import {
  CellsQuery,
  ChangeEvaluationBody,
  ListEvaluationsQuery,
  RetryBody,
  StartEvaluationBody,
} from "../evaluation-requests.ts";
import { StopBody } from "../request-schemas.ts";
import {
  CellPage,
  Evaluation,
  EvaluationPage,
  EvaluationReport,
  EvaluationStatus,
  RetriedCells,
  StartedEvaluation,
  StoppedEvaluation,
} from "./evaluation-schemas.ts";
import { EVALUATION, json, type Operation } from "./operation.ts";
import {
  BODY_PROBLEMS,
  QUERY_PROBLEMS,
  READ_PROBLEMS,
  RUN_PROBLEMS,
  START_PROBLEMS,
} from "./problem-schema.ts";

type Described = Pick<Operation, "id" | "summary" | "answers" | "problems"> & Partial<Operation>;

const read = (path: string, rest: Described): Operation => ({
  method: "get",
  path: `${EVALUATION}${path}`,
  tag: "Evaluations",
  ...rest,
});

const change = (path: string, rest: Described): Operation => ({ ...read(path, rest), method: "post" });

const WITH_BODY = [...BODY_PROBLEMS, ...RUN_PROBLEMS];

/** Operations on runs of suites. */
export const EVALUATIONS: readonly Operation[] = [
  {
    id: "listEvaluations",
    method: "get",
    path: "/v1/evaluations",
    tag: "Evaluations",
    summary: "List runs of suites, the newest first",
    query: ListEvaluationsQuery,
    answers: { 200: json("The runs.", EvaluationPage) },
    problems: [...QUERY_PROBLEMS, ...READ_PROBLEMS],
  },
  {
    id: "startEvaluation",
    method: "post",
    path: "/v1/evaluations",
    tag: "Evaluations",
    summary: "Start a run of a suite: each case is asked of each configuration, and the answers are scored",
    body: StartEvaluationBody,
    answers: {
      201: {
        ...json("The run has started.", StartedEvaluation),
        headers: { location: "The address of the run." },
      },
    },
    problems: [...BODY_PROBLEMS, ...START_PROBLEMS],
  },
  read("", {
    id: "getEvaluation",
    summary: "Read how far a run has come",
    answers: { 200: json("The run.", EvaluationStatus) },
    problems: READ_PROBLEMS,
  }),
  {
    ...read("", {
      id: "changeEvaluation",
      summary: "Change the concurrency or the budget of a run, also while it works",
      body: ChangeEvaluationBody,
      answers: { 200: json("The run.", Evaluation) },
      problems: WITH_BODY,
    }),
    method: "patch",
  },
  {
    ...read("", {
      id: "deleteEvaluation",
      summary: "Delete a run that has ended; the sessions and the results of its cells stay",
      answers: { 204: { description: "The run is deleted." } },
      problems: RUN_PROBLEMS,
    }),
    method: "delete",
  },
  read("/report", {
    id: "getEvaluationReport",
    summary:
      "Read the scores, costs and failures of each configuration, and how they differ; also while the run works",
    answers: { 200: json("The report.", EvaluationReport) },
    problems: READ_PROBLEMS,
  }),
  read("/cells", {
    id: "listCells",
    summary: "Read a page of the cells of a run, with their results and scores",
    query: CellsQuery,
    answers: { 200: json("The cells.", CellPage) },
    problems: [...QUERY_PROBLEMS, ...READ_PROBLEMS],
  }),
  read("/events", {
    id: "streamProgress",
    summary: "Follow the progress of a run until it has ended",
    headers: { "Last-Event-ID": "The id of the last event that was received." },
    answers: {
      200: { description: "The present progress, then its changes.", stream: "evaluation-events" },
      204: { description: "The run has ended, and you have received its last event: do not reconnect." },
    },
    problems: [...READ_PROBLEMS, "too-many-streams", "server-closing"],
  }),
  change("/pause", {
    id: "pauseEvaluation",
    summary: "Begin no further cell until the run is resumed; cells that are being asked end",
    answers: { 200: json("The run.", Evaluation) },
    problems: RUN_PROBLEMS,
  }),
  change("/resume", {
    id: "resumeEvaluation",
    summary: "Continue a run that is paused, or was stopped",
    answers: { 200: json("The run.", Evaluation) },
    problems: START_PROBLEMS,
  }),
  change("/stop", {
    id: "stopEvaluation",
    summary: "Stop a run: the cells that are being asked stay pending",
    body: StopBody,
    answers: { 202: json("The stop is requested.", StoppedEvaluation) },
    problems: WITH_BODY,
  }),
  change("/retry", {
    id: "retryEvaluation",
    summary: "Ask failed cells again, and resume the run",
    body: RetryBody,
    answers: { 200: json("The cells are pending.", RetriedCells) },
    problems: [...BODY_PROBLEMS, ...START_PROBLEMS],
  }),
];
