import { defineConfig } from 'vite';

export default defineConfig({
  base: '/graphql/',
  build: {
    outDir: 'dist',
    // Fonts, icons and workers stay separate files: the page's Content-Security-Policy does not allow data URLs for them.
    assetsInlineLimit: 0,
    // Every browser that runs GraphiQL 5 supports module preloading.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4096,
    // Some packages have "use client" directives, which have no meaning in a browser bundle.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});
