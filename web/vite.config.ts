import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const SERVER = process.env.HEADWAY_URL ?? "http://127.0.0.1:8470";

export default defineConfig({
  plugins: [react()],
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
