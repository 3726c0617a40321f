// The reference, rendered by Swagger UI. A call is made in the session of the console, or with typed credentials,
// which stay in the memory of the page.
const { SwaggerUIBundle } = window;

const api = new URL("..", document.baseURI);

async function sessionOfBrowser() {
  const asked = { method: "POST", credentials: "same-origin", cache: "no-store" };
  const answer = await fetch(new URL("console/session", api), asked).catch(() => undefined);
  return answer?.ok ? (await answer.json()).session : undefined;
}

/** Typed credentials take precedence. The document itself needs none. */
async function inSession(request) {
  const isTyped = Object.keys(request.headers).some(
    (name) => name.toLowerCase() === "authorization",
  );
  if (isTyped || !new URL(request.url, api).href.startsWith(new URL("v2/", api).href))
    return request;
  const session = await sessionOfBrowser();
  if (session !== undefined) request.headers["Posthaste-Session"] = session;
  return request;
}

SwaggerUIBundle({
  url: "../openapi.json",
  domNode: document.getElementById("reference"),
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  requestInterceptor: inSession,
  // The curl of a call is for a shell, which has no session.
  showMutatedRequest: false,
  // Otherwise the document would be sent to another server.
  validatorUrl: null,
});

document.getElementById("session").textContent =
  (await sessionOfBrowser()) === undefined
    ? "Sign in to the console to make calls, or type credentials at Authorize."
    : "Calls are made in your session of the console.";
