// The editors' colors that have a contrast of less than 4.5:1 in GraphiQL, replaced by readable ones. GraphiQL exports its
// themes only to itself, and Monaco cannot derive a theme from them.
import { MONACO_THEME_DATA } from '../node_modules/@graphiql/react/dist/constants.js';

const { light, dark } = MONACO_THEME_DATA;

light.rules.push({ token: 'number', foreground: '#07734b' });
dark.rules.push({ token: 'comment', foreground: '#8abf73' });

Object.assign(light.colors, {
  'editor.placeholder.foreground': '#4a5568',
  'editorBracketHighlight.foreground2': '#1f6f1f',
  'editorLineNumber.dimmedForeground': '#237893',
  'editorSuggestWidget.selectedForeground': '#a80471',
});
Object.assign(dark.colors, {
  'editor.placeholder.foreground': '#b7c2d7',
  'editorBracketHighlight.foreground2': '#ea9fe6',
  'editorBracketHighlight.foreground3': '#5cbcff',
  'editorLineNumber.foreground': '#a3acbb',
  'editorLineNumber.dimmedForeground': '#a3acbb',
  'editorSuggestWidget.selectedForeground': '#ff8fb8',
});
