import type { TronAccount } from './tron-state.ts';

/**
 * What keeps the account's own key from signing for it alone; empty while nothing does. Whoever has
 * the key can change the permission, and keep the account.
 *
 * @param digits The account as 42 digits.
 */
export function permissionFault({ owners }: TronAccount, digits: string): string[] {
  if (owners === null) return [];
  const own = owners.keys.find(({ address }) => address === digits);
  if (own && own.weight >= owners.threshold && owners.keys.length === 1) return [];
  return ["the owner permission of the hot wallet names other keys than the signer's: its payments stop"];
}
