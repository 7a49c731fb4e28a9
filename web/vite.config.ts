import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const SERVER = process.env.HEADWAY_URL ?? "http://127.0.0.1:8470";

const WORTH = 1024;

/** Beside each file the same as gzip, which the server sends to whoever takes it. */
const packed: Plugin = {
  name: "packed",
  apply: "build",
  writeBundle({ dir = "." }, bundle) {
    for (const name of Object.keys(bundle).filter((one) => /\.(js|css|html|svg)$/.test(one))) {
      const content = readFileSync(join(dir, name));
      if (content.length >= WORTH) writeFileSync(join(dir, `${name}.gz`), gzipSync(content, { level: 9 }));
    }
  },
};

export default defineConfig({
  plugins: [react(), packed],
  build: {
    outDir: "../src/headway/server/web",
    emptyOutDir: true,
    chunkSizeWarningLimit: 1200,
    sourcemap: false,
  },
  server: { proxy: { "/api": SERVER } },
  test: {
    environment: "jsdom",
    setupFiles: ["src/testing/setup.ts"],
    restoreMocks: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
