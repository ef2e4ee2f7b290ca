import { defineConfig } from 'vite';

const FOCUSES = 'activeElement && !(activeElement instanceof HTMLTextAreaElement)';

/**
 * The explorer focuses the input of each argument that it shows, also when the page is loaded or another tab is opened.
 * With this it does so only for a user who is working in it.
 */
const explorerWithoutFocusStealing = {
  name: 'explorer-without-focus-stealing',
  transform: {
    filter: { id: /graphiql-explorer\/dist\/Explorer\.js$/ },
    handler(code) {
      if (!code.includes(FOCUSES)) {
        this.error('graphiql-explorer has changed: see where it focuses an input');
      }
      return code.replace(FOCUSES, "activeElement?.closest('.explorer')");
    },
  },
};

export default defineConfig({
  plugins: [explorerWithoutFocusStealing],
  base: '/graphql/',
  build: {
    outDir: 'dist',
    // Fonts, icons and workers stay separate files: the page's Content-Security-Policy does not allow data URLs for them.
    assetsInlineLimit: 0,
    // Every browser that runs GraphiQL 5 supports module preloading.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4096,
    // Some packages have "use client" directives, which have no meaning in a browser bundle.
    rolldownOptions: {
      checks: { moduleLevelDirective: false },
      // GraphiQL derives the titles of its icons from the names of their components.
      output: { keepNames: true },
    },
  },
});
