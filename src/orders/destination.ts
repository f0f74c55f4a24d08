import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../base/db/sql.ts';
import { type FieldFault, fieldError } from '../base/errors.ts';
import { type AddressCheck, checkAddress, checkTag, hasChecksum } from '../chains/addresses/address.ts';
import { keyForms } from '../chains/addresses/key-forms.ts';
import { isOwnAddress } from '../chains/addresses/own-address.ts';
import { networkById } from '../chains/networks/networks.ts';
import type { Currency } from '../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';

/** Where a payment goes, in the form in which it is stored. */
export interface Destination {
  readonly address: string;
  readonly tag: string | null;
  /** Forms of the address by which a statement checks whether it belongs to the gateway. */
  readonly keyForms: string;
}

/** A destination as a request has it. */
export interface SentDestination {
  /** Names of the two members of the request. */
  readonly fields: { readonly address: string; readonly tag: string };
  readonly address: string;
  readonly tag: string | null;
}

/** The known part of a destination's place. The currency is null where only the coin is unknown. */
export interface Side {
  readonly currency: Currency | null;
  readonly network: string | null;
}

/** Finds the contracts of tokens. */
export type Contracts = Pick<CurrencyCatalogue, 'contractAt'>;

/**
 * Brings a destination into its stored form. Returns null after adding its faults to `faults`, or
 * when its network is unknown and it cannot be judged.
 */
export function destination(
  { fields, address, tag }: SentDestination,
  on: Side,
  faults: FieldFault[],
  catalogue: Contracts,
): Destination | null {
  const network = on.currency?.network ?? on.network;
  if (network === null || !networkById(network)) return null;
  const check: AddressCheck = checkAddress(network, address, tag);
  const contract = check.ok ? contractFault(catalogue, network, check.address) : null;
  if (contract !== null) {
    faults.push({ field: fields.address, kind: 'invalid_address', detail: `${fields.address} ${contract}` });
    return null;
  }
  if (check.ok) return { address: check.address, tag: check.tag, keyForms: keyForms(network, check.address) };
  const wrongTag = check.field === 'address' && tag !== null ? checkTag(network, tag) : null;
  for (const { field: part, code, detail } of wrongTag ? [check, wrongTag] : [check]) {
    const faulty = fields[part];
    faults.push({ field: faulty, kind: code, detail: `${faulty}: ${detail}` });
  }
  // Despite a wrong tag the address may belong to the gateway.
  const alone = check.field === 'tag' ? checkAddress(network, address, null) : check;
  return alone.ok ? { address: alone.address, tag: null, keyForms: keyForms(network, alone.address) } : null;
}

/**
 * Why nothing may be paid to an address that is the contract or the mint of a coin of the catalogue
 * on its chain, as the end of a sentence. Null for every other address.
 *
 * @param address in its stored form.
 */
function contractFault(catalogue: Contracts, network: string, address: string): string | null {
  const token = catalogue.contractAt(network, address);
  return token ? `is the token contract of ${token.coin}, where coins are lost; give the user's own address` : null;
}

/**
 * An address that a payment of this service may go to, in its stored form.
 *
 * @throws AppError invalid_address and the other faults of `checkAddress`; own_address.
 */
export async function payableAddress(
  em: EntityManager,
  catalogue: Contracts,
  network: string,
  given: Pick<Destination, 'address' | 'tag'>,
): Promise<Pick<Destination, 'address' | 'tag'>> {
  const check = checkAddress(network, given.address, given.tag);
  if (!check.ok) throw fieldError(check.code, check.field, `the ${check.field}: ${check.detail}`);
  const contract = contractFault(catalogue, network, check.address);
  if (contract !== null) throw fieldError('invalid_address', 'address', `the address: this ${contract}`);
  const [own] = await sql<{ own: boolean }>(
    em,
    `select ${isOwnAddress('forms.given')} as own from (select ?::text as given) as forms`,
    [keyForms(network, check.address)],
  );
  if (own?.own) throw fieldError('own_address', 'address', 'this is an address of this service; give another one');
  return { address: check.address, tag: check.tag };
}

/** The fault of an address that belongs to the gateway. */
export function ownAddress(field: string): FieldFault {
  return { field, kind: 'own_address', detail: `${field} is an address of this service; give the user's own` };
}

/** Codes of warnings. Each is explained in the contract. */
type WarningCode = 'no_checksum' | 'other_form' | 'tag_in_address' | 'tag_may_be_needed' | 'no_refund_address';

/** Something that is allowed and may be a mistake. */
export interface Warning {
  readonly field: string;
  readonly code: WarningCode;
  readonly detail: string;
}

/** What may be a mistake in a destination that is accepted. */
export function destinationWarnings(sent: SentDestination, network: string, stored: Destination): Warning[] {
  const { fields, address, tag } = sent;
  const memo = networkById(network)?.memo;
  const warnings: Warning[] = [];
  if (!hasChecksum(network, address)) {
    const detail = `${fields.address} has no checksum, so that a typing error would not be noticed; let the user compare it`;
    warnings.push({ field: fields.address, code: 'no_checksum', detail });
  }
  if (stored.address.toLowerCase() !== address.toLowerCase()) {
    const detail = `${fields.address} is another form of ${stored.address}, which is used and shown`;
    warnings.push({ field: fields.address, code: 'other_form', detail });
  }
  if (memo && tag === null && stored.tag !== null) {
    const detail = `${fields.address} carries the ${memo.name} ${stored.tag}, which is used`;
    warnings.push({ field: fields.tag, code: 'tag_in_address', detail });
  }
  if (memo?.exchangesNeedIt && stored.tag === null) {
    const detail = `there is no ${memo.name}; an exchange usually needs one to credit a payment, the user's own wallet does not`;
    warnings.push({ field: fields.tag, code: 'tag_may_be_needed', detail });
  }
  return warnings;
}
