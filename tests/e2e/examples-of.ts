/** Turns the examples of an OpenAPI document into requests, as a reader of the reference would send them, with only ids filled in. */
import { objectOf, textOf } from "./json.ts";

export type ExampleRequest = {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

type Parameter = { readonly name: string; readonly in: string; readonly example?: unknown };

/** `fill` returns the value of a path parameter, or undefined for its example. `host` replaces the examples' host. */
export function examplesOf(
  document: unknown,
  fill: (operation: string, parameter: string) => string | undefined,
  host: string,
): readonly ExampleRequest[] {
  const paths = Object.entries(objectOf(objectOf(document)["paths"]));
  return paths.flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).map(([method, each]) => {
      const { operationId, parameters, requestBody } = objectOf(each);
      const operation = textOf(operationId);
      const given = ((parameters ?? []) as readonly Parameter[]).filter(
        ({ example }) => example !== undefined,
      );
      const of = (place: string) => given.filter((parameter) => parameter.in === place);
      const query = new URLSearchParams(
        of("query").map(({ name, example }): [string, string] => [name, String(example)]),
      );
      const body = exampleIn(requestBody);
      return {
        operation,
        method: method.toUpperCase(),
        path:
          of("path").reduce(
            (text, { name, example }) =>
              text.replace(
                `{${name}}`,
                fill(operation, name) ?? encodeURIComponent(String(example)),
              ),
            path,
          ) + (query.size === 0 ? "" : `?${query.toString()}`),
        headers: {
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...Object.fromEntries(of("header").map(({ name, example }) => [name, String(example)])),
        },
        body:
          body === undefined ? "" : JSON.stringify(body).replaceAll("https://shop.example", host),
      };
    }),
  );
}

function exampleIn(requestBody: unknown): unknown {
  if (requestBody === undefined) return undefined;
  return objectOf(objectOf(objectOf(requestBody)["content"])["application/json"])["example"];
}
