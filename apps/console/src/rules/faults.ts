/** Finds the field of a form that a refusal names. The API names a header, parameter or field as it was sent. */

export type Faulty = {
  readonly name: string;
  /** The API's name, such as `Service-Retries`. Default: the form's. */
  readonly sentAs?: string;
};

export type Faults = {
  readonly errors: Readonly<Record<string, string>>;
  /** The fault that names no field of the form. */
  readonly rest: string | undefined;
};

export function faultsOf(message: string | undefined, fields: readonly Faulty[]): Faults {
  if (message === undefined) return { errors: {}, rest: undefined };
  const said = message.toLowerCase();
  // The longest name wins: Service-Callback is a part of Service-Callback-Retries.
  const [field] = fields
    .filter(({ name, sentAs = name }) => said.includes(sentAs.toLowerCase()))
    .toSorted((a, b) => (b.sentAs ?? b.name).length - (a.sentAs ?? a.name).length);
  return field === undefined
    ? { errors: {}, rest: message }
    : { errors: { [field.name]: message }, rest: undefined };
}
