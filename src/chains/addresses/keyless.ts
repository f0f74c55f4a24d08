import { base58 } from '@scure/base';
import { type AddressFamily, allNetworks } from '../networks/networks.ts';
import { keyForms } from './key-forms.ts';
import { algorandKeyless } from './keyless/algorand.ts';
import { bitcoinKeyless, dogecoinKeyless } from './keyless/bitcoin.ts';
import { cosmosKeyless } from './keyless/cosmos.ts';
import { evmKeyless } from './keyless/evm.ts';
import type { KeylessAccounts } from './keyless/keyless-accounts.ts';
import { polkadotKeyless } from './keyless/polkadot.ts';
import { rippleKeyless } from './keyless/ripple.ts';
import { solanaKeyless } from './keyless/solana.ts';
import { tezosKeyless } from './keyless/tezos.ts';
import { tonKeyless } from './keyless/ton.ts';
import { tronKeyless } from './keyless/tron.ts';
import { rippleAccount } from './ripple.ts';

/**
 * The accounts without a key of each family. Codecs refuse keys and hashes of zeros by themselves.
 * An account of Stellar, Cardano and Monero without a key is known by nothing else.
 */
export const keylessAccounts: Readonly<Record<AddressFamily, readonly KeylessAccounts[]>> = {
  bitcoin: bitcoinKeyless,
  litecoin: [],
  dogecoin: dogecoinKeyless,
  'bitcoin-cash': [],
  dash: [],
  zcash: [],
  evm: evmKeyless,
  tron: tronKeyless,
  ripple: rippleKeyless,
  stellar: [],
  ton: tonKeyless,
  cosmos: cosmosKeyless,
  solana: solanaKeyless,
  cardano: [],
  monero: [],
  polkadot: polkadotKeyless,
  algorand: algorandKeyless,
  tezos: tezosKeyless,
};

/** Reasons by the account, in every form of it that another family has. */
let byForm: ReadonlyMap<string, string> | null = null;

function readForms(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [family, rows] of Object.entries(keylessAccounts)) {
    const network = allNetworks().find((one) => one.family === family)?.id ?? '';
    for (const { reason, accounts = [] } of rows) {
      for (const form of accounts.flatMap((account) => keyForms(network, account).split(' '))) {
        if (!found.has(form)) found.set(form, reason);
      }
    }
  }
  return found;
}

/** The digits that a pattern matches, for the families that have some. */
const digitsOf: Partial<Record<AddressFamily, (address: string) => string>> = {
  evm: (address) => address.toLowerCase(),
  tron: (address) => `0x${Buffer.from(base58.decode(address).subarray(1, 21)).toString('hex')}`,
  ripple: (address) => `0x${Buffer.from(rippleAccount(address)).toString('hex')}`,
};

/**
 * Why no key can spend from an account, as the end of a sentence that starts with 'this'. Null for
 * every other account.
 *
 * @param address in the canonical form of the family.
 */
export function keylessReason(family: AddressFamily, address: string): string | null {
  byForm ??= readForms();
  const listed = byForm.get(address);
  if (listed !== undefined) return listed;
  const digits = digitsOf[family]?.(address);
  if (digits === undefined) return null;
  return keylessAccounts[family].find(({ pattern }) => pattern?.test(digits))?.reason ?? null;
}
