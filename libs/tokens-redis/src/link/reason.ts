/** Node's error for several refused addresses has a code and no message. */
export function reasonOf(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  if (error.message !== "") return error.message;
  return "code" in error ? String(error.code) : error.name;
}
