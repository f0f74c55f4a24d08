/**
 * SQL that tells whether an address is ours, in any form of its key. A payment to a deposit address
 * or a hot wallet reaches no user. EVM addresses are the same in any capitals, and `keyForms` also
 * gives them in small letters.
 *
 * @param parameter of the statement whose value is the result of `keyForms` for the address.
 */
export function isOwnAddress(parameter: string): string {
  const forms = `any (string_to_array(${parameter}::text, ' '))`;
  return `(exists (select from deposit_address d where d.address = ${forms})
    or exists (select from deposit_address d where d.nested_form = ${forms})
    or exists (select from deposit_address d where d.taproot_form = ${forms})
    or exists (select from deposit_account a where a.shared_address = ${forms})
    or exists (select from setting s where s.name like 'hot\\_wallet%' and (s.value = ${forms} or lower(s.value) = ${forms})))`;
}
