import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { Config } from '../config/settings.ts';
import { choosePassphrase, readHidden } from './passphrase.ts';
import { phraseOfSeed, seedOfPhrase } from './phrase.ts';
import { createSealedSeed, readSeed, refuseSecondSeed, sealInPlace, seedPath } from './seed.ts';
import { SignerKeys } from './signer-keys.ts';

/** Commands of the program `signer` that make or show a seed. */
export type SignerCommand = 'init' | 'restore' | 'seal' | 'phrase';

export const signerCommandHelp: Readonly<Record<SignerCommand, string>> = {
  init: `Usage: npm run signer -- init

Makes a new seed in DATA_DIR/signer-seed, sealed with a passphrase of at least 12 bytes, and shows its 24 words once, when
standard output is a terminal. Write them on paper: they restore all keys without the passphrase. Refuses where there is
a seed already. The passphrase comes from SIGNER_PASSPHRASE_FILE or SIGNER_PASSPHRASE, or is asked for at the terminal.
`,
  restore: `Usage: npm run signer -- restore

Makes DATA_DIR/signer-seed, sealed with a passphrase, from the 24 words that standard input holds; at a terminal they are
asked for, and not shown. Refuses where there is a seed already. The passphrase comes from SIGNER_PASSPHRASE_FILE or
SIGNER_PASSPHRASE, or is asked for at the terminal.
`,
  seal: `Usage: npm run signer -- seal

Seals the plain seed in DATA_DIR/signer-seed with a passphrase, in its place. The plain one is given up after the sealed
one was read back. Backups and the blocks of the disk may still hold it; only a new seed and moving all coins helps there.
`,
  phrase: `Usage: npm run signer -- phrase

Shows the 24 words of the seed, which restore all keys without a passphrase. Only at a terminal, so that no log gets them.
`,
};

const paperWarning = `
These 24 words are all the money: any reader of them can take every coin, and without them and the file all coins are
lost. Write them on paper now, in this order, and keep the paper where you keep such things. They are not shown again
unless you ask with: npm run signer -- phrase. Clear the terminal afterwards.
`;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs one of the commands. Its errors are written for people. */
export function runSignerCommand(command: SignerCommand, config: Config): Promise<void> {
  const path = seedPath(config.DATA_DIR);
  switch (command) {
    case 'init':
      return init(config, path);
    case 'restore':
      return restore(config, path);
    case 'seal':
      return seal(config, path);
    case 'phrase':
      return phrase(config);
  }
}

async function init(config: Config, path: string): Promise<void> {
  refuseSecondSeed(path);
  const entropy = randomBytes(32);
  await create(config, path, entropy);
  if (process.stdout.isTTY) showPhrase(entropy);
  else print('no terminal to show its 24 words at; back it up on paper with: npm run signer -- phrase');
  entropy.fill(0);
}

async function restore(config: Config, path: string): Promise<void> {
  refuseSecondSeed(path);
  const entropy = seedOfPhrase(await readWords());
  await create(config, path, entropy);
  entropy.fill(0);
}

async function seal(config: Config, path: string): Promise<void> {
  const passphrase = await choosePassphrase(config);
  try {
    await sealInPlace(path, passphrase);
  } finally {
    passphrase.fill(0);
  }
  print(`sealed ${path}`);
}

async function phrase(config: Config): Promise<void> {
  if (!process.stdout.isTTY) throw new Error('the words are shown at a terminal only');
  const entropy = await readSeed(config);
  if (entropy === null) throw new Error(`there is no seed at ${seedPath(config.DATA_DIR)}`);
  showPhrase(entropy);
  entropy.fill(0);
}

async function create(config: Config, path: string, entropy: Uint8Array): Promise<void> {
  const passphrase = await choosePassphrase(config);
  try {
    await createSealedSeed(path, entropy, passphrase);
  } finally {
    passphrase.fill(0);
  }
  print(`made the sealed seed ${path} fingerprint=${new SignerKeys(entropy).fingerprint()}`);
}

async function readWords(): Promise<string> {
  return process.stdin.isTTY ? (await readHidden('the 24 words: ')).toString('utf8') : text(process.stdin);
}

function showPhrase(entropy: Uint8Array): void {
  print(paperWarning);
  const words = phraseOfSeed(entropy).split(' ');
  for (let row = 0; row < words.length; row += 4) {
    const cells = words.slice(row, row + 4).map((word, place) => `${String(row + place + 1).padStart(2)} ${word}`);
    print(`  ${cells.map((cell) => cell.padEnd(14)).join('')}`.trimEnd());
  }
  print('');
}
