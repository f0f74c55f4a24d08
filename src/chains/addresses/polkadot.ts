import { base58 } from '@scure/base';
import { type AddressCodec, accepted, attempt, notOurs, refused } from './codec.ts';
import { blake2b512 } from './hashes.ts';

const context = new TextEncoder().encode('SS58PRE');

/**
 * Prefixes that holders of DOT are most likely to confuse with Polkadot's, 0.
 * https://github.com/paritytech/ss58-registry
 */
const otherNetworks: ReadonlyMap<number, string> = new Map([
  [2, 'Kusama'],
  [42, 'Substrate in general'],
]);

function checksum(payload: Uint8Array): Uint8Array {
  return blake2b512(Buffer.concat([context, payload])).subarray(0, 2);
}

/**
 * The Polkadot address of a public key: prefix 0, the key and 2 bytes of checksum, in base58.
 * https://docs.polkadot.com/polkadot-protocol/parachain-basics/accounts/
 */
export function encodePolkadot(publicKey: Uint8Array): string {
  const payload = Uint8Array.from([0, ...publicKey]);
  return base58.encode(Uint8Array.from([...payload, ...checksum(payload)]));
}

/** SS58, https://docs.polkadot.com/polkadot-protocol/parachain-basics/accounts/ */
export const polkadotCodec: AddressCodec = {
  looks: 'starts with 1 and has 46 to 48 characters',
  decode(text) {
    if (text.length < 35 || text.length > 50) return notOurs;
    const bytes = attempt(() => base58.decode(text));
    const first = bytes?.[0];
    if (!bytes || first === undefined || first >= 128) return notOurs;
    // Prefixes from 64 take two bytes.
    const start = first < 64 ? 1 : 2;
    if (bytes.length !== start + 34) return notOurs;
    const sum = checksum(bytes.subarray(0, -2));
    if (sum[0] !== bytes.at(-2) || sum[1] !== bytes.at(-1)) return notOurs;
    if (first !== 0) {
      const name = otherNetworks.get(first) ?? 'another network';
      return refused(`is an address of ${name}; give the Polkadot form, which starts with 1`, 'other_network');
    }
    if (bytes.subarray(1, 33).every((byte) => byte === 0)) return refused('is the zero address, which has no owner');
    return accepted(text, 'account');
  },
};
