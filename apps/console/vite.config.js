import { defineConfig } from "vite";

// Every address is relative, so that the console works below any path; nothing is inlined, since its CSP refuses that.
export default defineConfig({
  base: "./",
  build: { assetsInlineLimit: 0, modulePreload: false },
});
