import { pbkdf2Sync } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

const wordCount = 24;
const seedBytes = 32;
const longestWord = 8;

/**
 * The 24 words of a seed of 32 bytes, as they are written on paper.
 * https://github.com/bitcoin/bips/blob/master/bip-0039.mediawiki
 */
export function phraseOfSeed(entropy: Uint8Array): string {
  return entropyToMnemonic(Uint8Array.from(entropy), wordlist);
}

/**
 * The seed of 24 words, in any spacing and capitals.
 *
 * @throws Error that says what is wrong with the words and repeats none of them.
 */
export function seedOfPhrase(text: string): Uint8Array {
  const words = text.trim().toLowerCase().split(/\s+/);
  if (words.length !== wordCount) throw new Error(`a phrase has ${wordCount} words, and this one has ${words.length}`);
  const strange = words.findIndex((word) => !wordlist.includes(word));
  if (strange >= 0) throw new Error(`word ${strange + 1} of the phrase is not in the English list of BIP39`);
  try {
    return mnemonicToEntropy(words.join(' '), wordlist);
  } catch {
    throw new Error('the words are not a phrase: one is wrong, or two have changed places');
  }
}

/**
 * The seed from which BIP39 derives keys. The phrase stays bytes here, because text could not be
 * wiped.
 */
export function bip39Seed(entropy: Uint8Array): Uint8Array {
  if (entropy.length !== seedBytes) throw new Error(`a signer seed has ${seedBytes} bytes, not ${entropy.length}`);
  const bits = Uint8Array.from([...entropy, sha256(Uint8Array.from(entropy))[0] ?? 0]);
  const phrase = Buffer.alloc(wordCount * (longestWord + 1));
  let length = 0;
  for (let index = 0; index < wordCount; index++) {
    if (index > 0) length += phrase.write(' ', length);
    length += phrase.write(wordlist[elevenBits(bits, index * 11)] ?? '', length);
  }
  try {
    return new Uint8Array(pbkdf2Sync(phrase.subarray(0, length), 'mnemonic', 2048, 64, 'sha512'));
  } finally {
    phrase.fill(0);
    bits.fill(0);
  }
}

function elevenBits(bytes: Uint8Array, from: number): number {
  let value = 0;
  for (let bit = from; bit < from + 11; bit++) {
    value = (value << 1) | (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1);
  }
  return value;
}
