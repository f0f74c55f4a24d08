// The types and texts of the console's operations, from its operations and the staff API's schema.

import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { parse } from 'graphql';

/**
 * Returns a module with one typed document for each operation. The documents are texts, so that no
 * parser of GraphQL ships to the browser.
 *
 * @param schema The staff API's schema as text.
 * @param operations The operations as text.
 * @throws When an operation does not fit the schema.
 */
export async function consoleOperations(schema, operations) {
  const files = await preset.buildGeneratesSection({
    baseOutputDir: 'generated/',
    schema: parse(schema),
    documents: [{ location: 'operations.graphql', document: parse(operations), rawSDL: operations }],
    config: {
      documentMode: 'string',
      enumsAsTypes: true,
      useTypeImports: true,
      strictScalars: true,
      scalars: { DateTime: 'string', Decimal: 'string' },
    },
    presetConfig: { fragmentMasking: false },
    plugins: [],
    pluginMap: {},
  });
  const file = files.find(({ filename }) => filename.endsWith('graphql.ts'));
  const text = await codegen(file);
  return `// Generated from web/console/operations.graphql by npm run generate. Do not edit.\n${text}`;
}
