import { bech32 } from '@scure/base';
import { type AddressCodec, accepted, attempt, isZero, notOurs, refused, zeroAddress } from './codec.ts';

/**
 * Chains whose wallets show the same keys as Cosmos Hub. https://github.com/cosmos/chain-registry
 */
const otherChains =
  /^(akash|axelar|celestia|dydx|evmos|inj|juno|kava|neutron|noble|osmo|secret|sei|stars|terra|thor|umee)1/;

/** The address of an account, from the hash of its key. */
export function encodeCosmos(keyHash: Uint8Array): string {
  return bech32.encodeFromBytes('cosmos', keyHash);
}

/** Accounts of the Cosmos Hub: 20 bytes of a key's hash, or 32 of a module or contract. */
export const cosmosCodec: AddressCodec = {
  looks: 'starts with cosmos1',
  decode(text) {
    const lower = text.toLowerCase();
    if (/^cosmosval(oper|cons)1/.test(lower))
      return refused('is the address of a validator; give one that starts with cosmos1');
    const decoded = attempt(() => bech32.decode(text as `${string}1${string}`));
    if (decoded && otherChains.test(lower)) {
      return refused('is an address of another Cosmos chain; give one that starts with cosmos1', 'other_network');
    }
    if (!lower.startsWith('cosmos1')) return notOurs;
    const payload = decoded && attempt(() => bech32.fromWords(decoded.words));
    if (decoded?.prefix !== 'cosmos' || !payload) return refused('has a typing error: its checksum does not match');
    if (isZero(payload)) return zeroAddress;
    return payload.length === 20 || payload.length === 32 ? accepted(lower, 'account') : notOurs;
  },
};
