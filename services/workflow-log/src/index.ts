export { WorkflowLog, type WorkflowLogPorts } from "./workflow-log.ts";
