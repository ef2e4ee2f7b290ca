// Lints a schema with graphql-eslint's rules for schemas and for Relay, and prints what they find as JSON.
import graphql from '@graphql-eslint/eslint-plugin';
import { ESLint } from 'eslint';

const [schema] = process.argv.slice(2);
const rules = {
  ...graphql.configs['flat/schema-all'].rules, // the recommended ones included
  ...graphql.configs['flat/schema-relay'].rules,
  '@graphql-eslint/require-description': [
    'error',
    {
      types: true,
      rootField: true,
      DirectiveDefinition: true,
      EnumValueDefinition: true,
      FieldDefinition: true,
      InputValueDefinition: true,
    },
  ],
  // `nodes`, `userErrors` and other lists that are no pages may wrap what they list. Payments and notifications are met in
  // their booking's and their owner's lists alone, so they have no global id.
  '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false, shouldImplementNode: false }],
  // Off: fields and values stand in the order in which people read them.
  '@graphql-eslint/alphabetize': 'off',
  // Off: `id` is the global id, so a locker's own is `lockerId`, as in every argument and input.
  '@graphql-eslint/no-typename-prefix': 'off',
  // Off: what has an identity implements Node, which requires `id`; pages, payloads and errors have none.
  '@graphql-eslint/strict-id-in-types': 'off',
  // Off: it forbids mutations.
  '@graphql-eslint/no-root-type': 'off',
  // Off: a mutation always has a payload, which says what was wrong; the things in it are nullable.
  '@graphql-eslint/require-nullable-result-in-root': 'off',
  // Off: a payload holds what was changed, and that leads to everything else.
  '@graphql-eslint/require-field-of-type-query-in-mutation-result': 'off',
};
const eslint = new ESLint({
  overrideConfigFile: true,
  overrideConfig: {
    files: ['**/*.graphql'],
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema } } },
    plugins: { '@graphql-eslint': graphql },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules,
  },
});
const [{ messages }] = await eslint.lintFiles([schema]);
console.log(JSON.stringify(messages.map(({ ruleId, line, message }) => ({ ruleId, line, message }))));
