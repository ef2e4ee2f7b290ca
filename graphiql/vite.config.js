import { defineConfig } from 'vite';

export default defineConfig({
  base: '/graphql/',
  build: {
    outDir: 'dist',
    // Fonts, icons and workers stay files of their own: the page's policy lets no script come from anywhere else.
    assetsInlineLimit: 0,
    // Every browser that GraphiQL 5 runs in preloads modules by itself.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4096,
    // Some packages mark their modules for a server's renderer, which there is none of here.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});
