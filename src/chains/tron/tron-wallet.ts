import type { TronAccount } from './tron-state.ts';

/**
 * Why the account's own key cannot sign for it alone, as sentences; empty when it can. A thief of
 * the key can change the permission, and so keep the account.
 *
 * @param digits The account as 42 digits.
 */
export function permissionFault({ owners }: TronAccount, digits: string): string[] {
  if (owners === null) return [];
  const own = owners.keys.find(({ address }) => address === digits);
  if (own && own.weight >= owners.threshold && owners.keys.length === 1) return [];
  return ["the owner permission of the hot wallet names other keys than the signer's: its payments stop"];
}
