/**
 * SQL that tells whether an address, its one parameter, is ours: what is paid to a deposit address or to a wallet that
 * pays reaches no user. EVM addresses are the same in any capitals.
 */
export const isOwnAddress = `exists (
  select from (values (?::text)) as given (address)
   where exists (select from deposit_address d where d.address = given.address)
      or exists (select from deposit_account a where a.shared_address = given.address)
      or exists (select from setting s
                  where s.name like 'hot_wallet:%'
                    and (s.value = given.address or (s.value like '0x%' and lower(s.value) = lower(given.address)))))`;
