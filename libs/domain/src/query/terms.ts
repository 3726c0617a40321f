/** The terms of a filter, each written once: a field that the filter alone has does not compile. */

/** Whether `subject` has what one field asks for. */
export type Terms<Filter, Subject> = {
  readonly [Field in keyof Filter]-?: (
    asked: NonNullable<Filter[Field]>,
    subject: Subject,
  ) => boolean;
};

/** All fields that are given must hold. Throws for a field of a newer build: read as absent it would mean more than was asked. */
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
    super(`this build does not know the filter ${String(field)}`);
  }
}
