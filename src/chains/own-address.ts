/**
 * SQL that tells whether an address, given as a parameter of the statement, is ours: what is paid to a deposit address
 * or to a wallet that pays reaches no user. EVM addresses are the same in any capitals.
 */
export function isOwnAddress(parameter: string): string {
  return `exists (
  select from (values (${parameter}::text)) as given (address)
   where exists (select from deposit_address d where d.address = given.address)
      or exists (select from deposit_account a where a.shared_address = given.address)
      or exists (select from setting s
                  where s.name like 'hot_wallet:%'
                    and (s.value = given.address or (s.value like '0x%' and lower(s.value) = lower(given.address)))))`;
}
