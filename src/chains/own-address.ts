/**
 * SQL that tells whether an address is ours, in any form of its key: what is paid to a deposit address or to a wallet that
 * pays reaches no user. EVM addresses are the same in any capitals, and `keyForms` gives them in small letters as well.
 *
 * @param parameter of the statement whose value is what `keyForms` gave for the address.
 */
export function isOwnAddress(parameter: string): string {
  const forms = `any (string_to_array(${parameter}::text, ' '))`;
  return `(exists (select from deposit_address d where d.address = ${forms})
    or exists (select from deposit_address d where d.nested_form = ${forms})
    or exists (select from deposit_address d where d.taproot_form = ${forms})
    or exists (select from deposit_account a where a.shared_address = ${forms})
    or exists (select from setting s where s.name like 'hot\\_wallet%' and (s.value = ${forms} or lower(s.value) = ${forms})))`;
}
