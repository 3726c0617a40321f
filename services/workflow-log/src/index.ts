export { WorkflowLog, type WorkflowLogOptions, type WorkflowLogPorts } from "./workflow-log.ts";
