// Compiles the client to dist: ES modules, CommonJS modules, and declarations for both. npm runs it
// before it packs the client.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = new URL('.', import.meta.url);
const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', here));

rmSync(new URL('dist', here), { recursive: true, force: true });
for (const project of ['tsconfig.json', 'tsconfig.cjs.json']) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', project], { cwd: here, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
// The package itself is of ES modules.
writeFileSync(new URL('dist/cjs/package.json', here), '{ "type": "commonjs" }\n');
