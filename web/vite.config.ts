// The build of the console, and a development server that passes calls on to a running agena.

import { defineConfig } from "vite";

const server = process.env.AGENA_URL ?? "http://127.0.0.1:41242";

// The server lets in pages of its own origin alone, so the proxy takes that origin on.
const proxied = {
  target: server,
  changeOrigin: true,
  headers: { Origin: server },
};

export default defineConfig({
  base: "/",
  resolve: { alias: { "#gen": new URL("./gen", import.meta.url).pathname } },
  build: {
    target: "es2022",
    outDir: "dist",
    assetsDir: "assets",
    // A data: URL for a font or an icon would need a wider content security policy.
    assetsInlineLimit: 0,
    // The polyfill is an inline script, and every browser that can run this has modulepreload.
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: true,
  },
  server: { proxy: { "^/(agena|lf)\\..*": proxied, "^/v1/": proxied } },
});
