/** The terms of a filter, each written once. A filter's field without a term does not compile. */

/** For each field of a filter: reports whether `subject` matches the field. */
export type Terms<Filter, Subject> = {
  readonly [Field in keyof Filter]-?: (
    asked: NonNullable<Filter[Field]>,
    subject: Subject,
  ) => boolean;
};

/**
 * Reports whether all given fields hold. Throws for a field of a newer build: ignoring it would match more than requested.
 */
export function holds<Filter extends object, Subject>(
  terms: Terms<Filter, Subject>,
  filter: Filter,
  subject: Subject,
): boolean {
  const isAnswered = <Field extends keyof Filter>(field: Field): boolean => {
    const asked = filter[field];
    if (asked === undefined || asked === null) return true;
    if (!(field in terms)) throw new UnknownField(field);
    return terms[field](asked, subject);
  };
  for (const field in filter) if (!isAnswered(field)) return false;
  return true;
}

export class UnknownField extends Error {
  override readonly name = "UnknownField";
  constructor(field: PropertyKey) {
    super(`unknown filter ${String(field)}`);
  }
}
