/** Returns undefined if the server does not know the id. */
import { type PosthasteError } from "@posthaste/client";

export async function unlessUnknown<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (Error.isError(error) && (error as PosthasteError).status === 404) return undefined;
    throw error;
  }
}
