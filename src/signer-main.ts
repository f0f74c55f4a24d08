import { join } from 'node:path';
import { openLocalSigner } from './chains/signer-local.ts';
import { type SignerServer, serveSigner } from './chains/signer-server.ts';
import { ConfigError, loadConfig } from './config.ts';
import { createLog } from './log.ts';
import { readSecretFile } from './secret-file.ts';

/** From the signal to the end, whatever hangs. */
const hardExitMs = 10_000;

const help = `Usage: npm run signer [-- --help]

Holds the keys that payments are signed with, and signs for gateways over a unix socket. Settings come from the
environment: DATA_DIR holds the file signer-seed and the journal of what was signed; SIGNER_SOCKET is the socket,
signer.sock in DATA_DIR when it is absent; .env.example explains each.
The line when it is ready: signer ready socket=<path> fingerprint=<16 hex digits>
`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<void> {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    process.stdout.write(help);
    return;
  }
  if (Number.parseInt(process.versions.node, 10) < 24) {
    throw new Error(
      `Node 24 is needed, and this is ${process.version}; start with npm run signer, which brings its own`,
    );
  }
  const config = loadConfig();
  let server: SignerServer | undefined;
  let ending = false;

  const end = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), hardExitMs).unref();
    await server?.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      print(`${signal}: finishing what is under way`);
      void end();
    });
  }

  const signer = openLocalSigner({ entropy: readSeed(config.DATA_DIR), dataDir: config.DATA_DIR });
  const socketPath = config.SIGNER_SOCKET ?? join(config.DATA_DIR, 'signer.sock');
  server = await serveSigner({ signer, socketPath, log: createLog(config.LOG_LEVEL) });
  if (!ending) print(`signer ready socket=${socketPath} fingerprint=${signer.fingerprint()}`);
}

function readSeed(dataDir: string): Uint8Array {
  const path = join(dataDir, 'signer-seed');
  const seed = readSecretFile(path);
  if (seed === null) {
    throw new Error(
      `there is no signer seed at ${path}; the first start of the gateway makes it, so start that first, set DATA_DIR to the folder that holds it, or restore it from a backup`,
    );
  }
  return Buffer.from(seed, 'hex');
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n${error.problems.map((problem) => `  - ${problem}\n`).join('')}`);
  } else {
    process.stderr.write(`cannot start: ${error instanceof Error ? error.message : 'an unknown error'}\n`);
  }
  process.exit(1);
});
