// The reference, rendered by Swagger UI. What is typed as a token stays in the memory of the page.
const { SwaggerUIBundle } = window;

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
  // Else the document would be sent to another server.
  validatorUrl: null,
});
