// Writes the types of all documents in src/api, from the schema of the server: `npm run types`.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { codegen } from "@graphql-codegen/core";
import * as documentNode from "@graphql-codegen/typed-document-node";
import * as operations from "@graphql-codegen/typescript-operations";
import { parse } from "graphql";

const folder = "src/api";
const names = readdirSync(folder).filter((name) => name.endsWith(".graphql")).sort();
const content = await codegen({
  filename: `${folder}/documents.ts`,
  schema: parse(readFileSync("../../schema.graphql", "utf8")),
  documents: names.map((name) => ({ location: name, document: parse(readFileSync(`${folder}/${name}`, "utf8")) })),
  pluginMap: { operations, documentNode },
  plugins: [
    {
      operations: {
        enumsAsTypes: true,
        skipTypename: true,
        useTypeImports: true,
        scalars: { DateTime: "string", Date: "string", Decimal: "string", JSON: "unknown" },
      },
    },
    { documentNode: { useTypeImports: true } },
  ],
  config: {},
});
writeFileSync(`${folder}/documents.ts`, content);
