// Compares two schemas with graphql-inspector and prints what of the older one the newer one breaks.
import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

const [older, newer] = process.argv.slice(2).map((path) => buildSchema(readFileSync(path, 'utf8')));
const changes = await diff(older, newer);
const breaks = changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking);
console.log(JSON.stringify(breaks.map(({ path, message }) => ({ path, message }))));
