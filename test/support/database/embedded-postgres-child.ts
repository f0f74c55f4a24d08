import { createInterface } from 'node:readline';
import { startEmbeddedPostgres } from '../../../src/base/db/embedded/embedded-postgres.ts';

// A gateway reduced to its PostgreSQL, for tests that end it in every way. Its arguments are a
// folder and perhaps 'durable'; it writes one JSON object a line, and stops when its standard input
// says 'stop'.

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

const [dataDir = '', durable] = process.argv.slice(2);
const began = Date.now();
try {
  const postgres = await startEmbeddedPostgres({
    dataDir,
    ephemeral: durable !== 'durable',
    onProgress: (progress) => say({ progress }),
    onUnexpectedExit: (unexpectedExit) => say({ unexpectedExit }),
  });
  say({ ready: postgres.url, ms: Date.now() - began });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
  }
  await postgres.stop();
  say({ stopped: true });
} catch (error) {
  say({ failed: error instanceof Error ? error.message : String(error) });
}
process.exit();
