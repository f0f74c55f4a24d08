import { entropyToMnemonic, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { bip39Seed, phraseOfSeed, seedOfPhrase } from '../../../src/signer/phrase.ts';
import { isSealed, openSealedSeed, sealSeed, WrongPassphrase } from '../../../src/signer/sealing.ts';

const entropy = Uint8Array.from({ length: 32 }, (_, index) => index * 7);
const passphrase = Buffer.from('six random words are a good one');

describe('a sealed seed', () => {
  let text: string;

  beforeAll(async () => {
    text = await sealSeed(entropy, passphrase);
  });

  it('opens with its passphrase, and its text reveals nothing of the seed', async () => {
    expect(isSealed(text)).toBe(true);
    expect(isSealed(`${Buffer.from(entropy).toString('hex')}\n`)).toBe(false);
    expect(text).not.toContain(Buffer.from(entropy).toString('hex'));
    expect(JSON.parse(text)).toMatchObject({ version: 1, kdf: { name: 'scrypt', N: 131072, r: 8, p: 1 } });
    expect(new Uint8Array(await openSealedSeed(text, passphrase))).toEqual(entropy);
  });

  it('has a different text each time', async () => {
    const again = await sealSeed(entropy, passphrase);
    const [one, other] = [JSON.parse(text), JSON.parse(again)];
    for (const part of [
      (file: typeof one) => file.kdf.salt,
      (file: typeof one) => file.cipher.nonce,
      (file: typeof one) => file.sealed,
    ]) {
      expect(part(one)).not.toBe(part(other));
    }
  });

  it('reports a wrong passphrase', async () => {
    const refused = openSealedSeed(text, Buffer.from('six random words are a good 1'));
    await expect(refused).rejects.toBeInstanceOf(WrongPassphrase);
    await expect(refused).rejects.toThrow('the passphrase is wrong');
  });

  it('cannot be made with a short passphrase', async () => {
    await expect(sealSeed(entropy, Buffer.from('short'))).rejects.toThrow('at least 12 bytes');
  });

  interface SealedFile {
    readonly kdf: object;
    readonly cipher: object;
    readonly sealed: string;
    readonly tag: string;
    readonly checksum: string;
  }
  const changed: [string, (file: SealedFile) => unknown][] = [
    ['sealed bytes', (file) => ({ ...file, sealed: flipped(file.sealed) })],
    ['tag', (file) => ({ ...file, tag: flipped(file.tag) })],
    ['salt', (file) => ({ ...file, kdf: { ...file.kdf, salt: '00'.repeat(32) } })],
    ['nonce', (file) => ({ ...file, cipher: { ...file.cipher, nonce: '00'.repeat(12) } })],
    ['cost', (file) => ({ ...file, kdf: { ...file.kdf, N: 2 ** 10 } })],
    ['cost that eats the machine', (file) => ({ ...file, kdf: { ...file.kdf, N: 2 ** 30 } })],
    ['checksum', (file) => ({ ...file, checksum: flipped(file.checksum) })],
    ['lacking tag', ({ tag: _tag, ...file }) => file],
    ['shorter tag', (file) => ({ ...file, tag: file.tag.slice(0, 8) })],
    ['other format', (file) => ({ ...file, format: 'other' })],
  ];

  it.each(changed)('is reported as damaged with a changed %s', async (_what, change) => {
    await expect(openSealedSeed(JSON.stringify(change(JSON.parse(text))), passphrase)).rejects.toThrow('is damaged');
  });

  it('is reported as damaged when it is cut, and as a later version when it is one', async () => {
    await expect(openSealedSeed(text.slice(0, 200), passphrase)).rejects.toThrow('is damaged');
    const later = JSON.stringify({ ...JSON.parse(text), version: 2 });
    await expect(openSealedSeed(later, passphrase)).rejects.toThrow('is of version 2');
  });
});

function flipped(hex: string): string {
  return `${hex.startsWith('0') ? '1' : '0'}${hex.slice(1)}`;
}

describe('the phrase of a seed', () => {
  const seeds = [new Uint8Array(32), new Uint8Array(32).fill(255), entropy];

  it.each(seeds.map((seed) => [seed]))('follows BIP39 in both directions, and gives its keys', (seed) => {
    const phrase = entropyToMnemonic(seed, wordlist);
    expect(phraseOfSeed(seed)).toBe(phrase);
    expect(new Uint8Array(seedOfPhrase(`  ${phrase.toUpperCase().replaceAll(' ', '\n ')}\n`))).toEqual(seed);
    expect(bip39Seed(seed)).toEqual(new Uint8Array(mnemonicToSeedSync(phrase)));
  });

  it('reports invalid words without repeating them', () => {
    const words = phraseOfSeed(entropy).split(' ');
    expect(() => seedOfPhrase(words.slice(1).join(' '))).toThrow('a phrase has 24 words, and this one has 23');
    expect(() => seedOfPhrase(words.with(4, 'bitcoins').join(' '))).toThrow('word 5 of the phrase is not in');
    expect(() =>
      seedOfPhrase(
        words
          .with(0, words[1] ?? '')
          .with(1, words[0] ?? '')
          .join(' '),
      ),
    ).toThrow('one is wrong, or two have changed places');
  });
});
