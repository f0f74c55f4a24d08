import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58xmr, base58xrp, bech32, bech32m } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { addressExample, checkAddress } from '../../../src/chains/addresses/address.ts';
import { encodeBase58check } from '../../../src/chains/addresses/base58check.ts';
import { encodeCashaddr } from '../../../src/chains/addresses/bitcoin-cash.ts';
import { encodeP2wpkh } from '../../../src/chains/addresses/bitcoin-like.ts';
import { deriveDepositKey } from '../../../src/chains/addresses/deposit-address.ts';
import { keyForms, nestedForm, nestedFormOf } from '../../../src/chains/addresses/key-forms.ts';
import { encodeMonero } from '../../../src/chains/addresses/monero.ts';
import { encodeStrkey } from '../../../src/chains/addresses/stellar.ts';

const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);
const publicKey = (path: string): Uint8Array => {
  const key = HDKey.fromMasterSeed(seed).derive(path).publicKey;
  if (!key) throw new Error('no key');
  return key;
};
const hash160 = (bytes: Uint8Array): Uint8Array => ripemd160(sha256(bytes));
const keyHash = hash160(publicKey("m/84'/0'/0'/0/0"));

/** The canonical form of an address, as it is compared. */
function formsOf(network: string, address: string): string[] {
  const check = checkAddress(network, address, null);
  if (!check.ok) throw new Error(`${address}: ${check.detail}`);
  return keyForms(network, check.address).split(' ');
}

describe('every form of one key', () => {
  const ours = encodeP2wpkh('bc', keyHash);
  const oursOnLitecoin = encodeP2wpkh('ltc', keyHash);
  const same: [what: string, network: string, address: string][] = [
    ['P2WPKH on Bitcoin', 'BTC', ours],
    ['P2WPKH in capitals', 'BTC', ours.toUpperCase()],
    ['P2PKH on Bitcoin', 'BTC', encodeBase58check([0x00], keyHash)],
    ['P2WPKH on Litecoin', 'LTC', oursOnLitecoin],
    ['P2PKH on Litecoin', 'LTC', encodeBase58check([0x30], keyHash)],
    ['P2PKH on Dogecoin', 'DOGE', encodeBase58check([0x1e], keyHash)],
    ['P2PKH on Bitcoin Cash', 'BCH', encodeCashaddr(keyHash)],
    ['P2PKH on Dash', 'DASH', encodeBase58check([0x4c], keyHash)],
    ['P2PKH on Zcash', 'ZEC', encodeBase58check([0x1c, 0xb8], keyHash)],
    ['an account of Cosmos', 'ATOM', bech32.encodeFromBytes('cosmos', keyHash)],
  ];

  it.each(same)('%s is recognised as the key of our addresses', (_what, network, address) => {
    expect(formsOf(network, address)).toEqual(expect.arrayContaining([ours, oursOnLitecoin, encodeCashaddr(keyHash)]));
  });

  it('P2SH of Bitcoin and of Litecoin is recognised as the nested form of the key', () => {
    const nested = hash160(Uint8Array.from([0, 20, ...keyHash]));
    // The address that BIP49 wallets show for this key's hash.
    for (const [network, version] of [
      ['BTC', 0x05],
      ['LTC', 0x32],
    ] as const) {
      expect(formsOf(network, encodeBase58check([version], nested))).toContain(nestedForm(keyHash));
    }
    expect(nestedFormOf(ours)).toBe(nestedForm(keyHash));
    expect(nestedFormOf(encodeBase58check([0x05], nested))).toBeNull();
  });

  it('taproot is recognised as the form that is derived with the address', async () => {
    // https://github.com/bitcoin/bips/blob/master/bip-0086.mediawiki, the first receiving address.
    const account = HDKey.fromMasterSeed(seed).derive("m/86'/0'/0'").publicExtendedKey;
    const { hiddenForms } = await deriveDepositKey('BTC', account, 0);
    const taproot = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
    expect(formsOf('BTC', taproot)).toContain(hiddenForms?.taproot);
    const { words } = bech32m.decode(taproot);
    expect(formsOf('LTC', bech32m.encode('ltc', words))).toContain(hiddenForms?.taproot);
    expect(hiddenForms?.nested).toBe(nestedForm(hash160(publicKey("m/86'/0'/0'/0/0"))));
  });

  it('accounts of EVM networks and of TRON with one key are equal, in any case', () => {
    const evm = addressExample('ETH');
    const tron = encodeBase58check([0x41], Buffer.from(evm.slice(2), 'hex'));
    for (const network of ['ETH', 'BEP20', 'BASE']) {
      expect(formsOf(network, evm.toLowerCase())).toEqual(expect.arrayContaining([evm, tron]));
    }
    expect(formsOf('TRC20', tron)).toEqual(expect.arrayContaining([evm, tron]));
  });

  it('an X-address equals its classic address, and a muxed account of Stellar its plain one', () => {
    const classic = addressExample('XRP');
    const payload = base58xrp.decode(classic).subarray(1, 21);
    const tagged = Uint8Array.from([0x05, 0x44, ...payload, 1, 7, 0, 0, 0, 0, 0, 0, 0]);
    const text = base58xrp.encode(Uint8Array.from([...tagged, ...sha256(sha256(tagged)).subarray(0, 4)]));
    expect(formsOf('XRP', text)).toContain(classic);
    expect(formsOf('XRP', text)).toContain(encodeP2wpkh('bc', payload));
    const plain = addressExample('XLM');
    const key = strkeyPayload(plain);
    const muxed = encodeStrkey(12 << 3, Uint8Array.from([...key, 0, 0, 0, 0, 0, 0, 0, 9]));
    expect(formsOf('XLM', muxed)).toContain(plain);
  });

  it('accounts of Solana, Stellar, Algorand and Polkadot with one Ed25519 key are equal', () => {
    const solana = addressExample('SOL');
    const forms = formsOf('SOL', solana);
    for (const [network, form] of [
      ['XLM', forms.find((each) => /^G[A-Z2-7]{55}$/.test(each))],
      ['ALGO', forms.find((each) => /^[A-Z2-7]{58}$/.test(each))],
      ['DOT', forms.find((each) => /^1[a-zA-Z0-9]{45,47}$/.test(each))],
    ] as const) {
      expect(formsOf(network, form ?? '')).toContain(solana);
    }
    expect(forms.some((each) => checkAddress('XTZ', each, null).ok)).toBe(true);
    expect(forms.some((each) => checkAddress('ADA', each, null).ok)).toBe(true);
  });

  it('an address of Cardano is recognised by its payment key, with any stake part', () => {
    const bytes = bech32.fromWords(bech32.decode(addressExample('ADA') as 'a1b', 1023).words);
    const payment = bytes.subarray(1, 29);
    const enterprise = shelley([0x61, ...payment]);
    const other = shelley([0x01, ...payment, ...new Uint8Array(28).fill(7)]);
    const pointer = shelley([0x41, ...payment, 1, 2, 3]);
    for (const address of [enterprise, other, pointer, addressExample('ADA')]) {
      expect(formsOf('ADA', address)).toContain(enterprise);
    }
    const script = shelley([0x71, ...payment]);
    expect(formsOf('ADA', script)).not.toContain(enterprise);
  });

  it('an integrated address of Monero is recognised by its keys', () => {
    const bytes = base58xmr.decode(addressExample('XMR'));
    const [spend, view] = [bytes.subarray(1, 33), bytes.subarray(33, 65)];
    expect(keyForms('XMR', encodeMonero(42, spend, view)).split(' ')).toContain(addressExample('XMR'));
  });

  it('forms of another key are not recognised', () => {
    const other = encodeBase58check([0x00], hash160(keyHash));
    expect(formsOf('BTC', other)).not.toContain(ours);
  });
});

const shelley = (bytes: readonly number[]): string =>
  bech32.encode('addr', bech32.toWords(Uint8Array.from(bytes)), 1023);

function strkeyPayload(address: string): Uint8Array {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...address].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(
    Array.from({ length: 35 }, (_, i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8), 2)),
  ).subarray(1, 33);
}
