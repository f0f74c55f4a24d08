/**
 * SQL that tells whether an address is ours, in any form of its key. A payment to a deposit address
 * or a hot wallet reaches no user. EVM addresses are the same in any capitals, and `keyForms` also
 * gives them in small letters.
 *
 * @param parameter of the statement whose value is the result of `keyForms` for the address.
 */
export function isOwnAddress(parameter: string): string {
  const forms = `string_to_array(${parameter}::text, ' ')`;
  // The addresses that are not an order's own are few. PostgreSQL reads them once a statement.
  // The setting of a wallet's channels has several.
  // Few destinations are of a script or a taproot key, and only they can equal a hidden form.
  return `(${parameter}::text is not null and (
    ${forms} && array(select shared_address from deposit_account where shared_address is not null
                      union all select unnest(string_to_array(value || ' ' || lower(value), ' '))
                                  from setting where name like 'hot\\_wallet%')
    or exists (select from deposit_address d where d.address = any (${forms}))
    or ${parameter}::text like '%p2sh:%' and exists (select from deposit_address d where d.nested_form = any (${forms}))
    or ${parameter}::text like '%p2tr:%'
       and exists (select from deposit_address d where d.taproot_form = any (${forms}))))`;
}
