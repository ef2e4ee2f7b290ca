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

const NAME = 'operationName: operationName ?? null';

/**
 * GraphiQL learns the name of an operation 100 ms after its text. A tab that is left earlier would keep the name of the text
 * before for good: that of the previous tab, where it is new. With this it takes a name only from its own text.
 */
const tabsWithTheirOwnNames = {
  name: 'tabs-with-their-own-names',
  transform: {
    filter: { id: /@graphiql\/react\/dist\/stores\/editor\.js$/ },
    handler(code) {
      if (!code.includes(NAME)) {
        this.error('@graphiql/react has changed: see how it names a tab that is left');
      }
      const isInText = 'operationName && new RegExp(`\\\\b${operationName}\\\\b`).test(queryEditor?.getValue())';
      return code.replace(NAME, `operationName: ${isInText} ? operationName : null`);
    },
  },
};

export default defineConfig({
  plugins: [explorerWithoutFocusStealing, tabsWithTheirOwnNames],
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
