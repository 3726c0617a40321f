export function earliest(alarms: readonly (number | undefined)[]): number | undefined {
  const first = Math.min(...alarms.map((alarm = Infinity) => alarm));
  return first < Infinity ? first : undefined;
}
