import { join } from 'node:path';
import { ignoreClosedOutput } from './app/closed-output.ts';
import { liveSigning, openNetworks } from './app/open-networks.ts';
import { createLog } from './base/log.ts';
import { ConfigError, loadConfig } from './config/load-config.ts';
import type { Config } from './config/settings.ts';
import { runSignerCommand, type SignerCommand, signerCommandHelp } from './signer/commands.ts';
import { openLocalSigner } from './signer/local-signer.ts';
import { signerSecret } from './signer/secret.ts';
import { readSeed, seedPath } from './signer/seed.ts';
import { type SignerServer, serveSigner } from './signer/server.ts';

/** The longest time from the signal to the exit, even when a step of the shutdown hangs. */
const hardExitMs = 10_000;

const help = `Usage: npm run signer [-- init | restore | seal | phrase] [--help]

Without a word: holds the keys that payments are signed with, and signs for gateways over a unix socket. Settings come
from the environment: DATA_DIR holds the file signer-seed, the journal of what was signed, what was spent each day, and
the secret that gateways share with it; SIGNER_SOCKET is the socket, signer.sock in DATA_DIR when it is absent;
.env.example explains each.
The line when it is ready: signer ready socket=<path> fingerprint=<16 hex digits> chains=<real ones, if any>

  init     makes a new seed, sealed with a passphrase
  restore  makes the seed from its 24 words
  seal     seals a plain seed in its place
  phrase   shows the 24 words of the seed
`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const [command, ...others] = words.filter((word) => word !== '--help' && word !== '-h');
  if (others.length > 0 || (command !== undefined && !isCommand(command))) {
    throw new Error(`'${[command, ...others].join(' ')}' is no command; see npm run signer -- --help`);
  }
  const isHelp = words.includes('--help') || words.includes('-h');
  if (isHelp || command !== undefined) ignoreClosedOutput();
  if (isHelp) {
    process.stdout.write(command === undefined ? help : signerCommandHelp[command]);
    return;
  }
  if (Number.parseInt(process.versions.node, 10) < 24) {
    throw new Error(
      `Node 24 is needed, and this is ${process.version}; start with npm run signer, which brings its own`,
    );
  }
  const config = loadConfig();
  if (command === undefined) await serve(config);
  else await runSignerCommand(command, config);
}

function isCommand(word: string): word is SignerCommand {
  return Object.hasOwn(signerCommandHelp, word);
}

async function serve(config: Config): Promise<void> {
  let server: SignerServer | undefined;
  let ending = false;
  // A signal interrupts the wait for a passphrase and every step of the start.
  let close = async (): Promise<void> => {};

  const end = async (): Promise<void> => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), hardExitMs).unref();
    await server?.close();
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      print(`${signal}: finishing what is under way`);
      void end();
    });
  }

  const networks = await openNetworks(config);
  const live = await liveSigning(networks);
  const entropy = await existingSeed(config);
  const signer = await openLocalSigner({
    entropy,
    dataDir: config.DATA_DIR,
    sandboxRules: config.SANDBOX_RULES,
    ...live,
  });
  entropy.fill(0);
  close = () => signer.close();
  const socketPath = config.SIGNER_SOCKET ?? join(config.DATA_DIR, 'signer.sock');
  server = await serveSigner({
    signer,
    socketPath,
    secret: signerSecret(config),
    log: createLog(config.LOG_LEVEL),
    opensFor: config.SIGNER_SOCKET_OPENS_FOR,
  });
  const chains = networks.live.size > 0 ? ` chains=${[...networks.live.keys()].join(',')}` : '';
  if (!ending) print(`signer ready socket=${socketPath} fingerprint=${await signer.fingerprint()}${chains}`);
}

async function existingSeed(config: Config): Promise<Buffer> {
  const seed = await readSeed(config);
  if (seed !== null) return seed;
  throw new Error(
    `there is no signer seed at ${seedPath(config.DATA_DIR)}; make one with npm run signer -- init, set DATA_DIR to the folder that holds it, or restore it from a backup`,
  );
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n${error.problems.map((problem) => `  - ${problem}\n`).join('')}`);
  } else {
    process.stderr.write(`cannot start: ${error instanceof Error ? error.message : 'an unknown error'}\n`);
  }
  process.exit(1);
});
