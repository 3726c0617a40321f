/** The fault of each quota of a plan, with one text wherever it is found to be exceeded. */
import { type Fault, fault } from "./fault.ts";
import { type Plan } from "./plans.ts";

export const beyondQuota = (quota: string, limit: number): Fault =>
  fault("beyond_plan", `quota ${quota} exceeded, current limit: ${limit}`);

export const tooManyEndpoints = ({ groupEndpointsMax }: Plan): Fault =>
  beyondQuota("maxEndpointsPerTopic", groupEndpointsMax);

export const tooManyGroups = ({ groupsMax }: Plan): Fault => beyondQuota("maxTopics", groupsMax);

export const tooManyQueues = ({ queuesMax }: Plan): Fault => beyondQuota("maxQueues", queuesMax);
