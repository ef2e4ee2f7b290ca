// Runs every public audit of GraphQL over HTTP against the server at the given URL and prints the results as JSON.
import { auditServer } from 'graphql-http';

const results = await auditServer({ url: process.argv[2] });
console.log(JSON.stringify(results.map(({ id, name, status, reason }) => ({ id, name, status, reason }))));
