import { defineConfig } from "vite";

// All addresses are relative, so that the console works below any path. Nothing is inlined, since its policy refuses that.
export default defineConfig({
  base: "./",
  worker: { format: "es" },
  build: {
    assetsInlineLimit: 0,
    modulePreload: false,
    // Lists the licences of all bundled packages, and ships with the console.
    license: { fileName: "licences.md" },
    rollupOptions: { input: ["index.html", "operator.html"] },
  },
});
