import { defineConfig } from "vite";

// Every address is relative, so that the console works below any path; nothing is inlined, since its policy refuses that.
export default defineConfig({
  base: "./",
  worker: { format: "es" },
  build: {
    assetsInlineLimit: 0,
    modulePreload: false,
    // Of all packages that are inside: it goes where the console goes.
    license: { fileName: "licences.md" },
    rollupOptions: { input: ["index.html", "operator.html"] },
  },
});
