export type Violation = { readonly rule: string; readonly evidence: unknown };

export const violation = (rule: string, evidence: unknown): Violation => ({ rule, evidence });

export const shown = ({ rule, evidence }: Violation): string =>
  `${rule}: ${JSON.stringify(evidence)}`;
