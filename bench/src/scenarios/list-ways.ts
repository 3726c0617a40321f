/** The lists that people look at, under each filter: with a value that many items match, one that few match, and one that none matches. */

export type ListWay = { readonly what: string; readonly path: string };

const ofMessages = [
  ["no filter", ""],
  ["a URL of each hundredth", "&url=https://shop-7.example/orders"],
  ["a URL of none", "&url=https://none.example/orders"],
  ["a label of each thousandth", "&label=label-7"],
  ["a label of none", "&label=none"],
  ["a queue of none", "&queueName=none"],
  ["a group of none", "&topicName=none"],
  ["a schedule of none", "&scheduleId=none"],
  ["a flow key of none", "&flowControlKey=none"],
  ["an address of none", "&callerIp=192.0.2.1"],
  ["an id of none", "&messageId=msg_1icMmin3YcWLrHXGo1GZ9mJyFI"],
  ["a time before all", "&toDate=1700000000000"],
] as const;
const ofTheLog = [
  ...ofMessages,
  ["a host of none", "&host=none.example"],
  ["a path of none", "&path=/none"],
  ["a state of none", "&state=CANCELED"],
] as const;
const ofLetters = [...ofMessages, ["a status of none", "&responseStatus=404"]] as const;
const ofRuns = [
  ["no filter", ""],
  ["a label of each hundredth", "&label=label-7"],
  ["a label of none", "&label=none"],
  ["a URL of none", "&workflowUrl=https://none.example/run"],
  ["a state of none", "&state=RUN_FAILED"],
  ["a flow key of none", "&flowControlKey=none"],
  ["an address of none", "&callerIp=192.0.2.1"],
  ["an id of none", "&workflowRunId=none"],
] as const;

const waysOf = (
  list: string,
  path: string,
  filters: readonly (readonly [what: string, query: string])[],
): readonly ListWay[] =>
  filters.map(([what, query]) => ({ what: `${list}: ${what}`, path: `${path}${query}` }));

export const lists: readonly ListWay[] = [
  ...waysOf("log", "/v2/events?count=50&trimBody=0", ofTheLog),
  ...waysOf("dead letters", "/v2/dlq?count=50&trimBody=0&order=latestFirst", ofLetters),
  ...waysOf("runs", "/v2/workflows/logs?count=50&steps=none", ofRuns),
];
