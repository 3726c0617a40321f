/** A call about a thing that may not be there: undefined where the server knows none of its id. */
import { type PosthasteError } from "@posthaste/client";

export async function unlessUnknown<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (Error.isError(error) && (error as PosthasteError).status === 404) return undefined;
    throw error;
  }
}
