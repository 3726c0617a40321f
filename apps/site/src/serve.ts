/** Serves a built site on this machine. */
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/** Returns the files that a path of the site may mean. The first that exists is used. */
export const filesOf = (path: string): readonly string[] => [
  path,
  `${path}.html`,
  join(path, "index.html"),
];

/** Returns the port, which is free unless it is given. */
export async function serve(folder: string, base: string, port = 0): Promise<number> {
  const fileAt = (url: string): string | undefined => {
    const { pathname } = new URL(url, "http://site.invalid");
    if (!pathname.startsWith(base)) return undefined;
    const path = join(folder, decodeURIComponent(pathname.slice(base.length)));
    return filesOf(path).find(
      (name) => name.startsWith(folder) && existsSync(name) && statSync(name).isFile(),
    );
  };
  const server = createServer((request, response) => {
    const file = fileAt(request.url ?? "/");
    const type = types[extname(file ?? "404.html")] ?? "application/octet-stream";
    response.writeHead(file === undefined ? 404 : 200, { "Content-Type": type });
    createReadStream(file ?? join(folder, "404.html")).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
