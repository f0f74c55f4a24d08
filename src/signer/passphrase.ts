import { readFileSync } from 'node:fs';
import type { Config } from '../config/settings.ts';

const enter = [10, 13];
const endOfInput = 4;
const interrupt = 3;
const erase = [8, 127];

export type PassphraseSettings = Pick<Config, 'SIGNER_PASSPHRASE' | 'SIGNER_PASSPHRASE_FILE'>;

/**
 * Reads the passphrase that opens the sealed seed, in bytes that the caller wipes. It comes from
 * the settings, or from a question at the terminal. A file is read once, so that it may be a pipe.
 *
 * @throws Error when there is no passphrase and no terminal.
 */
export async function readPassphrase(settings: PassphraseSettings): Promise<Buffer> {
  return configured(settings) ?? readHidden('passphrase of the signer seed: ');
}

/** Reads a passphrase to seal with; at the terminal it is asked for twice. */
export async function choosePassphrase(settings: PassphraseSettings): Promise<Buffer> {
  const given = configured(settings);
  if (given) return given;
  const first = await readHidden('new passphrase of the signer seed: ');
  const second = await readHidden('the same again: ');
  const isSame = first.equals(second);
  second.fill(0);
  if (isSame) return first;
  first.fill(0);
  throw new Error('the two are not the same');
}

function configured({ SIGNER_PASSPHRASE, SIGNER_PASSPHRASE_FILE }: PassphraseSettings): Buffer | null {
  if (SIGNER_PASSPHRASE !== null) return Buffer.from(SIGNER_PASSPHRASE);
  if (SIGNER_PASSPHRASE_FILE === null) return null;
  const text = readFileSync(SIGNER_PASSPHRASE_FILE);
  const lineEnd = /\r?\n$/.exec(text.subarray(-2).toString('latin1'))?.[0].length ?? 0;
  const passphrase = Buffer.from(text.subarray(0, text.length - lineEnd));
  text.fill(0);
  if (passphrase.length === 0) throw new Error('the file that SIGNER_PASSPHRASE_FILE names is empty');
  return passphrase;
}

/**
 * Reads a line that is typed at the terminal and not shown, in bytes that the caller wipes.
 *
 * @throws Error when there is no terminal.
 */
export function readHidden(prompt: string): Promise<Buffer> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) {
    throw new Error(
      'the signer seed needs its passphrase, and there is no terminal to ask at: set SIGNER_PASSPHRASE_FILE to a file that holds it',
    );
  }
  // First, so that characters typed right after the question are hidden too.
  stdin.setRawMode(true);
  stderr.write(prompt);
  return new Promise((resolve, reject) => {
    const typed: number[] = [];
    const end = (): void => {
      stdin.off('data', take);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
    };
    const take = (chunk: Buffer): void => {
      for (const [place, byte] of chunk.entries()) {
        if (byte === interrupt) {
          end();
          reject(new Error('given up'));
          return;
        }
        if (enter.includes(byte) || byte === endOfInput) {
          end();
          // The rest of the input belongs to the next question.
          if (place + 1 < chunk.length) stdin.unshift(chunk.subarray(place + 1));
          resolve(Buffer.from(typed));
          typed.fill(0);
          return;
        }
        if (erase.includes(byte)) eraseCharacter(typed);
        else typed.push(byte);
      }
    };
    stdin.on('data', take);
    // The earlier question paused stdin, and a program that waits for nothing ends.
    stdin.resume();
  });
}

/** Removes the last character, which may be several bytes of UTF-8. */
function eraseCharacter(typed: number[]): void {
  while (((typed.at(-1) ?? 0) & 0xc0) === 0x80) typed.pop();
  typed.pop();
}
