import { type AddressFamily, allNetworks, type Network, networkById } from '../networks/networks.ts';
import { algorandCodec } from './algorand.ts';
import { bitcoinCashCodec } from './bitcoin-cash.ts';
import { bitcoinCodec, dashCodec, dogecoinCodec, encodeKeyHash, litecoinCodec, zcashCodec } from './bitcoin-like.ts';
import { cardanoCodec } from './cardano.ts';
import { type AddressCodec, type Decoded, type Foreign, refused, secretKey } from './codec.ts';
import { cosmosCodec } from './cosmos.ts';
import { evmCodec } from './evm.ts';
import { keylessReason } from './keyless.ts';
import { moneroCodec } from './monero.ts';
import { polkadotCodec } from './polkadot.ts';
import { rippleCodec } from './ripple.ts';
import { solanaCodec } from './solana.ts';
import { stellarCodec } from './stellar.ts';
import { tezosCodec } from './tezos.ts';
import { tonCodec } from './ton.ts';
import { tronCodec } from './tron.ts';

/** Whether a payment may go to an address, and the form in which it is stored. */
export type AddressCheck =
  | { readonly ok: true; readonly address: string; readonly tag: string | null; readonly kind: string }
  | {
      readonly ok: false;
      readonly field: 'address' | 'tag';
      /**
       * `tag_required` is for callers that asked the ledger: the text of an address alone never
       * shows it.
       */
      readonly code:
        | 'invalid_address'
        | 'wrong_network_address'
        | 'tag_required'
        | 'tag_not_supported'
        | 'invalid_tag'
        | 'conflicting_tag';
      /** One sentence without its subject, in our own words, that says what to change. */
      readonly detail: string;
    };

/**
 * No family's addresses, and none of the recognised secrets, are longer. Longer text is refused
 * before it costs time.
 */
const maxLength = 256;

/**
 * A recovery phrase, https://github.com/bitcoin/bips/blob/master/bip-0039.mediawiki, or Monero's of
 * 25 words.
 */
const phrase = /^\s*([a-z]{3,12}\s+){11,24}[a-z]{3,12}\s*$/;

/**
 * The codec of each family, those with a checksum first: the message for a wrong address names the
 * first codec that reads it.
 */
const codecs: Readonly<Record<AddressFamily, AddressCodec>> = {
  bitcoin: bitcoinCodec,
  litecoin: litecoinCodec,
  dogecoin: dogecoinCodec,
  'bitcoin-cash': bitcoinCashCodec,
  dash: dashCodec,
  zcash: zcashCodec,
  tron: tronCodec,
  ripple: rippleCodec,
  stellar: stellarCodec,
  ton: tonCodec,
  cosmos: cosmosCodec,
  cardano: cardanoCodec,
  monero: moneroCodec,
  polkadot: polkadotCodec,
  algorand: algorandCodec,
  tezos: tezosCodec,
  evm: evmCodec,
  solana: solanaCodec,
};

/** Reads an address of a family. It refuses accounts from which no key can spend. */
function decode(family: AddressFamily, text: string): Decoded {
  const decoded = codecs[family].decode(text);
  const keyless = decoded.ok ? keylessReason(family, decoded.address) : null;
  return keyless === null ? decoded : refused(keyless);
}

const families = Object.keys(codecs) as readonly AddressFamily[];

/**
 * Checks a destination for one network: checksum, version and memo rules. It recognises secret
 * keys, test network addresses and addresses of other networks. Never throws, for any text.
 *
 * @param tag null without a tag.
 */
export function checkAddress(networkId: string, address: string, tag: string | null): AddressCheck {
  const network = networkById(networkId);
  if (!network) return refuse('address', 'invalid_address', `addresses on ${networkId} cannot be checked`);
  const { looks } = codecs[network.family];
  const expected = `an address on ${network.id} ${looks}`;
  if (address.length > maxLength) return refuse('address', 'invalid_address', `this is not an address; ${expected}`);
  if (phrase.test(address)) return refuseSecret();
  if (/[^\x21-\x7e]/.test(address)) {
    const fault =
      address.trim() === address ? 'is not an address' : 'has spaces or line breaks around it; leave them out';
    return refuse('address', 'invalid_address', `this ${fault}; ${expected}`);
  }
  const decoded = decode(network.family, address);
  if (decoded.ok) return withTag(network, decoded, tag);
  if (decoded.what === 'secret_key') return refuseSecret();
  if (decoded.what !== undefined) return refuse('address', 'wrong_network_address', `this ${decoded.reason}`);
  if (decoded.reason !== null) return refuse('address', 'invalid_address', `this ${decoded.reason}; ${expected}`);
  return otherNetwork(network, address, expected);
}

/**
 * The networks of other families than the named network's on which a text is an address. None for
 * text that is a secret key of any family.
 */
export function otherNetworksOf(networkId: string, address: string): string[] {
  if (address.length > maxLength || /[^\x21-\x7e]/.test(address)) return [];
  const readings = families.map((family) => ({ family, decoded: decode(family, address) }));
  if (readings.some(({ decoded }) => !decoded.ok && decoded.what === 'secret_key')) return [];
  const own = networkById(networkId)?.family;
  const others = readings.filter(({ family, decoded }) => decoded.ok && family !== own).map(({ family }) => family);
  return allNetworks()
    .filter(({ family }) => others.includes(family))
    .map(({ id }) => id);
}

/** Whether a valid address has a checksum, so that a typing error in it would be noticed. */
export function hasChecksum(networkId: string, address: string): boolean {
  const network = networkById(networkId);
  return network === undefined || (codecs[network.family].hasChecksum?.(address) ?? true);
}

/**
 * A valid address on the network, for documentation and messages. Its keys are public: never pay to
 * it.
 */
export function addressExample(networkId: string): string {
  const network = networkById(networkId);
  if (!network) throw new Error(`there is no network ${networkId}`);
  const example = examples[network.family];
  return typeof example === 'string' ? example : encodeKeyHash(network.chain, example);
}

/**
 * What is wrong with a tag, independent of the address, or null. For a tag next to an address that
 * is refused itself.
 */
export function checkTag(networkId: string, tag: string): Exclude<AddressCheck, { ok: true }> | null {
  const network = networkById(networkId);
  const check = network && withTag(network, { address: '', kind: '', tag: null }, tag);
  return check && !check.ok ? check : null;
}

function refuse(
  field: 'address' | 'tag',
  code: Exclude<AddressCheck, { ok: true }>['code'],
  detail: string,
): AddressCheck {
  return { ok: false, field, code, detail };
}

function refuseSecret(): AddressCheck {
  return refuse('address', 'invalid_address', `this ${secretKey.ok ? '' : secretKey.reason}`);
}

/**
 * Explains an address that is not of this network's family. A family that accepts the address comes
 * before one that only recognises its form.
 */
function otherNetwork(network: Network, address: string, expected: string): AddressCheck {
  const others = families
    .filter((family) => family !== network.family)
    .map((family): [AddressFamily, Decoded] => [family, decode(family, address)]);
  if (others.some(([, decoded]) => !decoded.ok && decoded.what === 'secret_key')) return refuseSecret();
  const found =
    others.find(([, decoded]) => decoded.ok) ?? others.find(([, decoded]) => !decoded.ok && decoded.reason !== null);
  if (!found) return refuse('address', 'invalid_address', `this is not an address on ${network.id}; ${expected}`);
  const [family, decoded] = found;
  const title = allNetworks().find((other) => other.family === family)?.title ?? family;
  const name = family === 'evm' ? 'Ethereum or another EVM network' : title;
  const looks = decoded.ok || decoded.what === undefined ? `an address on ${name}` : foreignNames[decoded.what](name);
  return refuse('address', 'wrong_network_address', `this looks like ${looks}; ${expected}`);
}

const foreignNames: Readonly<Record<Foreign, (name: string) => string>> = {
  secret_key: () => 'a secret key',
  test_network: (name) => `an address on a test network of ${name}`,
  other_network: () => 'an address on another network',
};

function withTag(
  { id, memo }: Network,
  decoded: { address: string; kind: string; tag: string | null },
  tag: string | null,
): AddressCheck {
  const { address, kind } = decoded;
  if (tag === null) return { ok: true, address, kind, tag: decoded.tag };
  if (memo === null) return refuse('tag', 'tag_not_supported', `${id} has no memo or tag; leave it out`);
  if (!memo.accepts(tag)) return refuse('tag', 'invalid_tag', `a ${memo.name} on ${id} is ${memo.looks}`);
  if (decoded.tag !== null && decoded.tag !== tag) {
    return refuse(
      'tag',
      'conflicting_tag',
      `the address itself carries the ${memo.name} ${decoded.tag}; send only one`,
    );
  }
  return { ok: true, address, kind, tag };
}

/**
 * From the test phrase 'abandon' × 11 'about', or from the documentation of each chain. It is the
 * hash of a key if the address depends on the chain's network.
 */
const examples: Readonly<Record<AddressFamily, string | Uint8Array>> = {
  bitcoin: Buffer.from('c0cebcd6c3d3ca8c75dc5ec62ebe55330ef910e2', 'hex'),
  litecoin: Buffer.from('96cd3178f3de0f307bcee1aeaa4d5987862dd30a', 'hex'),
  dogecoin: Buffer.from('4a483568665dcdfa68dd58a1f62893448a643339', 'hex'),
  'bitcoin-cash': 'bitcoincash:qqyx49mu0kkn9ftfj6hje6g2wfer34yfnq5tahq3q6',
  dash: 'XoJA8qE3N2Y3jMLEtZ3vcN42qseZ8LvFf5',
  zcash: 't1XVXWCvpMgBvUaed4XDqWtgQgJSu1Ghz7F',
  evm: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  tron: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
  ripple: 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3',
  stellar: 'GB3JDWCQJCWMJ3IILWIGDTQJJC5567PGVEVXSCVPEQOTDN64VJBDQBYX',
  ton: 'EQDtFpEwcFAEcRe5mLVh2N6C0x-_hJEM7W61_JLnSF74p4q2',
  cosmos: 'cosmos19rl4cm2hmr8afy4kldpxz3fka4jguq0auqdal4',
  solana: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  cardano: 'addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x',
  monero: '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A',
  polkadot: '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5',
  algorand: '7ZUECA7HFLZTXENRV24SHLU4AVPUTMTTDUFUBNBD64C73F3UHRTHAIOF6Q',
  tezos: 'tz1VSUr8wwNhLAzempoch5d6hLRiTh8Cjcjb',
};
