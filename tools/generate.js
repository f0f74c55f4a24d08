// Writes the generated files, or with --check lists the stale ones. Generated are:
// - the types of the REST contract (openapi.yaml), of its client, and of the cabinet's pages;
// - the guides for partners and .env.example;
// - the scopes of keys for the pages of staff and partners;
// - the order's states, the staff API's schema, the console's operations and the database's schema.
// Builds src once it has the types of the contract.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';
import { buildOrExit } from './build.js';
import {
  cabinetEvents,
  cabinetScopes,
  cabinetTypes,
  clientOperations,
  clientTypes,
  consoleScopes,
  gatewayTypes,
} from './client-types.js';
import { consoleOperations } from './console-operations.js';
import { guides } from './guides.js';

const check = process.argv.includes('--check');
const root = new URL('..', import.meta.url);
const stale = [];

function emit(path, text) {
  const url = new URL(path, root);
  if (existsSync(url) && readFileSync(url, 'utf8') === text) return;
  if (check) stale.push(path);
  else {
    writeFileSync(url, text);
    console.log(`wrote ${path}`);
  }
}

const document = parse(readFileSync(new URL('openapi.yaml', root), 'utf8'));
const contract = await gatewayTypes(new URL('openapi.yaml', root));
emit('src/generated/openapi.ts', `// Generated from openapi.yaml by npm run generate. Do not edit.\n${contract}`);
emit(
  'src/generated/contract.ts',
  `// Generated from openapi.yaml by npm run generate. Do not edit.\n/** The contract as JSON, which is read faster than YAML. */\nexport const contractJson =\n  ${JSON.stringify(JSON.stringify(document))};\n`,
);
const cabinetDocument = parse(readFileSync(new URL('cabinet-openapi.yaml', root), 'utf8'));
emit(
  'src/generated/cabinet.ts',
  `// Generated from cabinet-openapi.yaml by npm run generate. Do not edit.\n${astToString(await openapiTS(new URL('cabinet-openapi.yaml', root), { exportType: true }))}`,
);
emit(
  'src/generated/cabinet-contract.ts',
  `// Generated from cabinet-openapi.yaml by npm run generate. Do not edit.\n/** The cabinet's contract as JSON, which is read faster than YAML. */\nexport const cabinetContractJson =\n  ${JSON.stringify(JSON.stringify(cabinetDocument))};\n`,
);
emit('client/src/generated/contract.ts', await clientTypes(new URL('openapi.yaml', root), document));
emit('client/src/generated/operations.ts', clientOperations(document));

emit(
  'src/generated/guides.ts',
  `// Generated from docs/partners by npm run generate. Do not edit.\n/** The guides for partners, in the order of the navigation. */\nexport const guides: readonly { name: string; title: string; about: string; markdown: string; html: string }[] =\n  ${JSON.stringify(guides(), null, 2)};\n`,
);

buildOrExit();
const { sharedOperations } = await import(new URL('dist/accounts/members/rights.js', root).href);
emit(
  'web/cabinet/generated/contract.ts',
  await cabinetTypes(new URL('cabinet-openapi.yaml', root), cabinetDocument, document, sharedOperations),
);
emit('web/cabinet/generated/event-types.ts', cabinetEvents(document));
const { scopeRows } = await import(new URL('dist/accounts/partners/key-scope.js', root).href);
emit('web/cabinet/generated/key-scopes.ts', cabinetScopes(scopeRows));
emit('web/console/generated/key-scopes.ts', consoleScopes(scopeRows));
const { environmentExample } = await import(new URL('dist/config/environment-example.js', root).href);
emit('.env.example', environmentExample());

const { orderStatusDocument } = await import('./order-status.js');
emit('schema/order-status.md', orderStatusDocument());

const { printStaffSchema } = await import(new URL('dist/surfaces/graphql/schema.js', root).href);
emit('schema/schema.graphql', await printStaffSchema());

emit(
  'web/console/generated/graphql.ts',
  await consoleOperations(
    await printStaffSchema(),
    readFileSync(new URL('web/console/operations.graphql', root), 'utf8'),
  ),
);

const { databaseSchema } = await import('./database-schema.js');
emit('schema/database.sql', await databaseSchema());

if (stale.length > 0) {
  console.error(`stale: ${stale.join(', ')}; run npm run generate and commit the result`);
  process.exit(1);
}
