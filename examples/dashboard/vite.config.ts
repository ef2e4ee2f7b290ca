import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const server = process.env.SMARTLOCKER ?? "http://127.0.0.1:8000";

export default defineConfig({
  base: "/dashboard/",
  plugins: [react()],
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: {
    proxy: {
      // The server takes requests of its own pages only: the proxy makes these look like one of them.
      "/graphql": { target: server, ws: true, changeOrigin: true, headers: { origin: server } },
    },
  },
});
